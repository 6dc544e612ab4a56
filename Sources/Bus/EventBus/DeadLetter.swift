public import Foundation

/// A message that a durable consumer gave up, kept until somebody resends or drops it.
public struct DeadLetter: Hashable, Sendable, Identifiable {
    public let id: Int64
    public let consumer: String
    public let rejection: Rejection
    /// When it was given up.
    public let time: Date
    /// The message as it was published.
    public let message: Envelope

    public init(id: Int64, consumer: String, rejection: Rejection, time: Date, message: Envelope) {
        self.id = id
        self.consumer = consumer
        self.rejection = rejection
        self.time = time
        self.message = message
    }
}

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
