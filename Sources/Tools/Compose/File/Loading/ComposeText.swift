import Foundation

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
