import Foundation

/// The text of a file that a person named.
enum ComposeText {
    /// - Parameter path: `-` is standard input.
    /// - Returns: `nil` when it cannot be read, or is not UTF-8.
    static func read(_ path: String) -> String? {
        guard path == "-" else { return try? String(contentsOfFile: path, encoding: .utf8) }
        return (try? FileHandle.standardInput.readToEnd()).flatMap { String(data: $0, encoding: .utf8) }
    }
}
