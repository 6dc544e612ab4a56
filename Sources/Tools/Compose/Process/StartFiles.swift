import Foundation

/// The files with which a process was started, to find out later which of them have changed.
struct StartFiles: Sendable, Equatable {
    /// The versions of the watched files and folders, by their paths.
    private let watched: [String: FileVersion?]
    private let executable: String
    private let build: FileVersion?

    /// Reads the present versions. This may block.
    ///
    /// - Parameters:
    ///   - executable: the path of the executable.
    ///   - watched: the absolute paths of other files and folders.
    init(executable: String, watched: [String]) {
        self.executable = executable
        build = FileVersion(of: executable)
        self.watched = Dictionary(watched.map { ($0, FileVersion(of: $0)) }) { first, _ in first }
    }

    /// The changes since then, as a phrase such as `ios.yaml changed`; nil if there are none. This may block.
    var change: String? {
        let present = StartFiles(executable: executable, watched: Array(watched.keys))
        let changed = watched.keys.filter { watched[$0] != present.watched[$0] }.sorted().map(Self.name)
        let parts = [
            changed.isEmpty ? nil : "\(changed.joined(separator: " and ")) changed",
            build == present.build ? nil : "\(Self.name(executable)) was rebuilt",
        ]
        let text = parts.compactMap(\.self).joined(separator: ", and ")
        return text.isEmpty ? nil : text
    }

    private static func name(_ path: String) -> String { (path as NSString).lastPathComponent }
}

/// A version of a file, or of all files in a folder. It differs if a file was written, replaced, added or removed.
private struct FileVersion: Sendable, Equatable {
    /// The maximum number of files of a folder that count.
    private static let mostFiles = 10_000

    private struct File: Equatable {
        let path: String
        let number: Int?
        let size: Int?
        let modified: Date?
    }

    private var files: [File] = []

    /// Nil if there is no file and no folder with this path.
    init?(of path: String) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
        if isFolder.boolValue, let names = FileManager.default.enumerator(atPath: path) {
            for case let name as String in names.prefix(Self.mostFiles) { add("\(path)/\(name)") }
            files.sort { $0.path < $1.path }
        } else {
            add(path)
        }
    }

    private mutating func add(_ path: String) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return }
        files.append(
            File(
                path: path, number: attributes[.systemFileNumber] as? Int, size: attributes[.size] as? Int,
                modified: attributes[.modificationDate] as? Date))
    }
}
