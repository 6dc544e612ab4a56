internal import Foundation
internal import Support

/// The files that are installed with the programs, such as compose files, flows and the page for browsers.
package enum InstalledFiles {
    /// The path of the running program, with symbolic links resolved. Nil if `/proc` is not mounted.
    ///
    /// This is read, and not resolved like other links: an upgrade may have replaced the file.
    package static let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")

    /// The path of the folder of ``program``.
    package static var programFolder: String? { program.map { ($0 as NSString).deletingLastPathComponent } }

    /// The folders that may have the files of a program, most likely first. They need not exist.
    ///
    /// For a program in `PREFIX/bin` or `PREFIX/lib/segue`, this is `PREFIX/share/segue`. For a program that was built
    /// in the folder `.build` of a repository, the repository has the files in the same arrangement.
    package static func folders(ofProgramIn folder: String? = programFolder) -> [String] {
        guard let folder else { return [] }
        let parts = folder.split(scalar: "/").map(String.init)
        var folders = [parts.dropLast() + ["share", "segue"]]
        if let index = parts.indices.dropLast().last(where: { parts[$0] == "lib" && parts[$0 + 1] == "segue" }) {
            folders.append(parts[..<index] + ["share", "segue"])
        }
        if let index = parts.lastIndex(of: ".build") { folders.append(parts[..<index]) }
        return folders.map { "/" + $0.joined(separator: "/") }
    }

    /// The path of the first file or folder with this name in ``folders(ofProgramIn:)``. Nil if there is none.
    package static func path(of name: String) -> String? {
        folders().map { "\($0)/\(name)" }.first(where: FileManager.default.fileExists)
    }
}
