import Foundation
import SystemPackage

/// A file of a stack: its name for errors, the folder in which its paths start, and the values of its variables.
struct ComposeSource: Sendable {
    let name: String
    /// The folder in which the file's relative paths start.
    let directory: ComposePath
    let environment: ComposeEnvironment
}

/// A line of a file.
struct ComposeLocation: Sendable, Hashable {
    let file: String
    /// Counted from 1.
    let line: Int
}

/// The path of a file or folder, in the form for messages and in absolute form.
struct ComposePath: Hashable, Sendable {
    /// The form for messages: relative to the current folder if the user gave a relative path.
    let shown: String
    let absolute: String

    init(shown: String, absolute: String) {
        self.shown = shown
        self.absolute = absolute
    }

    /// Resolves a path that is written in a file of this folder.
    func resolving(_ text: String) -> ComposePath {
        ComposePath(shown: Self.join(shown, text), absolute: Self.join(absolute, text))
    }

    var directory: ComposePath {
        ComposePath(
            shown: FilePath(shown).removingLastComponent().string,
            absolute: FilePath(absolute).removingLastComponent().string)
    }

    /// Joins two paths and removes `.` and `..`. If `path` is absolute, it is the result.
    static func join(_ directory: String, _ path: String) -> String {
        FilePath(directory).pushing(FilePath(path)).lexicallyNormalized().string
    }
}

/// Reads the text of compose files and env files.
enum ComposeText {
    /// The maximum size of a file in bytes; a larger file is an error.
    private static let longest = 4 << 20

    enum Failure: Error {
        /// There is no file with this path.
        case missing
        case folder
        case unreadable
        case tooLong
        /// The file is not UTF-8, or contains a zero byte.
        case encoding

        /// The remedy; nil if it depends on the file.
        var recovery: String? {
            switch self {
            case .missing: nil
            case .folder: "it is a folder"
            case .unreadable: "it must be a file that you may read"
            case .tooLong: "it must be a text file of at most 4 MiB"
            case .encoding: "it must be UTF-8 text"
            }
        }
    }

    /// - Parameter path: `-` is standard input.
    static func read(_ path: String) throws(Failure) -> String {
        if path == "-" { return try standardInput.get() }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw .missing }
        guard !isFolder.boolValue else { throw .folder }
        return try text(of: FileHandle(forReadingAtPath: path))
    }

    /// The text is kept, because standard input can be read only once.
    private static let standardInput = Result { () throws(Failure) in try text(of: .standardInput) }

    private static func text(of file: FileHandle?) throws(Failure) -> String {
        // For an empty file `read` returns nil.
        guard let file, let data = try? file.read(upToCount: longest + 1) ?? Data() else { throw .unreadable }
        guard data.count <= longest else { throw .tooLong }
        guard let text = String(data: data, encoding: .utf8), !text.utf8.contains(0) else { throw .encoding }
        return text
    }
}
