public import Foundation

/// A message that a durable consumer gave up. The bus keeps it until it is sent again or dropped.
public struct DeadLetter: Hashable, Sendable, Identifiable {
    public let id: Int64
    public let consumer: String
    public let rejection: Rejection
    /// The time at which the consumer gave up the message.
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

extension DeadLetter {
    /// A dead letter without the data of its message.
    public struct Summary: Hashable, Sendable, Identifiable {
        public let id: Int64
        public let consumer: String
        public let rejection: Rejection
        /// The time at which the consumer gave up the message.
        public let time: Date
        /// The message as it was published, but without its data.
        public let message: Envelope
        /// The number of bytes of the message's data.
        public let dataSize: Int

        /// True if the message withdraws a document. ``message`` is without its data, so its own `isTombstone` does not
        /// say that.
        public var isTombstone: Bool { dataSize == 0 && message.isTombstone }

        /// - Parameter message: A message whose data is left out.
        public init(
            id: Int64, consumer: String, rejection: Rejection, time: Date, message: Envelope, dataSize: Int
        ) {
            self.id = id
            self.consumer = consumer
            self.rejection = rejection
            self.time = time
            var message = message
            message.data = Data()
            self.message = message
            self.dataSize = dataSize
        }
    }

    /// This dead letter without the data of its message.
    public var summary: Summary {
        Summary(
            id: id, consumer: consumer, rejection: rejection, time: time, message: message,
            dataSize: message.data.count)
    }
}

/// The reason why a durable consumer gave up a message.
public struct Rejection: Hashable, Sendable {
    /// A stable identifier for programs, such as `message.malformed`.
    public let code: String
    /// One line of text for a person.
    public let reason: String
    /// The number of attempts to handle the message.
    public let attempts: Int

    public init(code: String, reason: String, attempts: Int) {
        self.code = code
        self.reason = reason
        self.attempts = attempts
    }
}

extension DeadLetter {
    /// Reads pages of dead letters, each after the last id of the page before, until one is empty.
    package static func forEachPage<Letter: Identifiable<DeadLetter.ID>>(
        _ page: (_ after: DeadLetter.ID) async throws -> [Letter], _ body: ([Letter]) async throws -> Void
    ) async throws {
        var last: DeadLetter.ID = 0
        while true {
            let deadLetters = try await page(last)
            guard let id = deadLetters.last?.id else { return }
            try await body(deadLetters)
            last = id
        }
    }
}
