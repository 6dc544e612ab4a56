/// Every mistake of a compose file, found in one reading.
package struct ComposeFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package struct Mistake: Sendable, Equatable, CustomStringConvertible {
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
    /// By line.
    package let mistakes: [Mistake]

    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}
