/// Why it cannot be told what JSON a type is.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line: which type, and what to do.
    public let description: String
}
