/// Why a durable consumer gave a message up.
public struct Rejection: Hashable, Sendable {
    /// A stable name for a program, as in `message.malformed`.
    public let code: String
    /// One line for a person.
    public let reason: String
    /// How often it was tried.
    public let attempts: Int

    public init(code: String, reason: String, attempts: Int) {
        self.code = code
        self.reason = reason
        self.attempts = attempts
    }
}
