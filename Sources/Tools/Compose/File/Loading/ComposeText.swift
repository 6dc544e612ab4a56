import Foundation

/// The text of a file that a person named.
enum ComposeText {
    /// - Parameter path: `-` is standard input.
    /// - Returns: `nil` when it cannot be read, or is not UTF-8.
    static func read(_ path: String) -> String? {
        path == "-" ? standardInput : try? String(contentsOfFile: path, encoding: .utf8)
    }

    /// It can be read once only, and a command may look at its files for several things.
    private static let standardInput: String? = {
        // An empty input is none to `readToEnd`, and the same as an empty file to a person.
        guard let data = try? FileHandle.standardInput.readToEnd() ?? Data() else { return nil }
        return String(data: data, encoding: .utf8)
    }()
}
