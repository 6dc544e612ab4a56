/// What is wrong with a value, by the schema that it should have.
public struct SchemaProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where, as in `data.songs[2].title`.
    public let path: String
    /// One line: what is wrong there, and what was perhaps meant.
    public let message: String

    public var description: String { "\(path): \(message)" }
}
