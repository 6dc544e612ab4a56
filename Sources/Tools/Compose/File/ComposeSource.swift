import Foundation
import SystemPackage

/// A file of a stack: what mistakes call it, and what its relative paths and its variables refer to.
struct ComposeSource: Sendable {
    let name: String
    /// Where its relative paths start.
    let directory: ComposePath
    let environment: ComposeEnvironment
}

/// Where something stands.
struct ComposePlace: Sendable, Hashable {
    let file: String
    /// Counted from 1.
    let line: Int
}

/// A file or folder, as a person is told of it and as it is found.
struct ComposePath: Hashable, Sendable {
    /// Relative to where the person works, if it was named so.
    let shown: String
    let absolute: String

    init(shown: String, absolute: String) {
        self.shown = shown
        self.absolute = absolute
    }

    /// What this text means in a file that lies in this folder.
    func resolving(_ text: String) -> ComposePath {
        ComposePath(shown: Self.join(shown, text), absolute: Self.join(absolute, text))
    }

    var directory: ComposePath {
        ComposePath(
            shown: FilePath(shown).removingLastComponent().string,
            absolute: FilePath(absolute).removingLastComponent().string)
    }

    /// `path` itself if it is absolute.
    static func join(_ directory: String, _ path: String) -> String {
        FilePath(directory).pushing(FilePath(path)).lexicallyNormalized().string
    }
}

/// The text of a file that a person named.
enum ComposeText {
    /// Far more than a person writes. A device or a pipe may go on for ever.
    private static let longest = 4 << 20

    enum Failure: Error {
        /// It is not there, may not be read, or is not UTF-8.
        case unreadable
        case tooLong

        /// What to do about it, if that is always the same.
        var hint: String? {
            self == .tooLong ? "it has to be text of at most 4 MiB" : nil
        }
    }

    /// - Parameter path: `-` is standard input.
    static func read(_ path: String) throws(Failure) -> String {
        path == "-" ? try standardInput.get() : try text(of: FileHandle(forReadingAtPath: path))
    }

    /// It can be read once only, and a command may look at its files for several things.
    private static let standardInput = Result { () throws(Failure) in try text(of: .standardInput) }

    private static func text(of file: FileHandle?) throws(Failure) -> String {
        // An empty file is none to `read`, and an empty text to a person.
        guard let file, let data = try? file.read(upToCount: longest + 1) ?? Data() else { throw .unreadable }
        guard data.count <= longest else { throw .tooLong }
        guard let text = String(data: data, encoding: .utf8) else { throw .unreadable }
        return text
    }
}
