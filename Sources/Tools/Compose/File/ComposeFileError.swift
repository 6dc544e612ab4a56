/// Every mistake of a stack's files, found in one reading.
package struct ComposeFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package struct Mistake: Sendable, Hashable, CustomStringConvertible {
        package let file: String
        /// Counted from 1.
        package let line: Int
        package let message: String
        package let hint: String?

        package var description: String {
            "\(file):\(line): \(message)" + (hint.map { "; \($0)" } ?? "")
        }
    }

    package let code = "compose-file"
    /// File by file, by line.
    package let mistakes: [Mistake]

    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}
