/// All settings that are missing or cannot be used, found in one reading: each is reported as a line of its own.
public struct ConfigurationErrors: Error, Hashable, Sendable {
    public let errors: [ConfigurationError]

    public init(_ errors: [ConfigurationError]) {
        self.errors = errors
    }
}
