public import EventBus

/// What failed, in words for a person and a code for a program.
public struct ApplicationError: ErrorMessage, Error, Hashable {
    public enum Severity: String, Codable, Sendable, CaseIterable {
        case info, warning, error
    }

    /// Stable, dotted: `spotify.access-denied`.
    public var code: String
    /// One line: what is wrong.
    public var message: String
    /// One line: what to do about it.
    public var recovery: String?
    public var severity: Severity

    public init(code: String, message: String, recovery: String? = nil, severity: Severity = .error) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.severity = severity
    }
}
