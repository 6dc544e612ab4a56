/// A setting that is missing or cannot be used. The process ends with status 78.
public struct ConfigurationError: Error, Hashable, Sendable {
    public static let code = "service.configuration"

    /// One line: which setting is wrong.
    public let message: String
    /// One line: what to do about it.
    public let recovery: String

    public init(_ message: String, recovery: String) {
        self.message = message
        self.recovery = recovery
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { "\(message); \(recovery)" }
}
