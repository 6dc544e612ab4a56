package import Foundation

/// A new folder for one test, with a name that no other test has.
package struct ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "segue-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    /// The path of a file or folder inside.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// Removes the folder with its contents.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
