/// A catalogue file that cannot be used. Its description is one line that a person can act on.
package struct CatalogueError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `catalogue.unreadable` or `catalogue.malformed`; stable.
    package let code: String
    /// What is wrong, beginning with the file and, where there is one, the line.
    package let message: String

    /// The file cannot be opened or is not UTF-8.
    static func unreadable(file: String, reason: String) -> Self {
        Self(code: "catalogue.unreadable", message: "\(file): cannot read the catalogue: \(reason)")
    }

    /// The file has the fault at the line, counted from 1.
    static func malformed(file: String, line: Int?, problem: String) -> Self {
        let place = line.map { "\(file):\($0)" } ?? file
        return Self(code: "catalogue.malformed", message: "\(place): \(problem)")
    }

    package var description: String { message }
}
