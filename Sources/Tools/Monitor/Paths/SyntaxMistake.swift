/// What is wrong with a text that somebody wrote, and where.
package struct SyntaxMistake: Error, Hashable, Sendable {
    package let message: String
    /// Counted in characters, from 1.
    package let column: Int

    init(_ message: String, column: Int) {
        self.message = message
        self.column = column
    }
}

extension SyntaxMistake: CustomStringConvertible {
    package var description: String { "\(message) (column \(column))" }
}
