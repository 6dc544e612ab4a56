/// A flow that cannot be used, with all that is wrong with it.
public struct FlowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, from the file's beginning to its end; never empty.
    public let findings: [FlowFinding]

    /// The stable code by which programs know this error.
    public var code: String { "navigation.invalidFlow" }

    /// All findings, one a line.
    public var message: String { findings.map(\.description).joined(separator: "\n") }

    /// All findings, one a line.
    public var description: String { message }
}
