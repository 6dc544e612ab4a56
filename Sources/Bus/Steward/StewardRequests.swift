internal import EventBus
internal import NATS
internal import NATSLayout

/// Another steward has taken over. What this one has still to write is refused.
struct Deposed: Error {}

/// The requests of a steward. They wait while servers are away.
extension JetStream {
    /// The journal's last message of a subject, or that of another stream, from its leader.
    func last(_ subject: String, of stream: String) async throws -> StoredMessage? {
        try await retrying { try await lastMessage(of: stream, subject: subject) }
    }

    /// Stores a message on the condition that the last message of a subject has a sequence.
    /// - Returns: The sequence of the message; nil if the condition does not hold. It also does not hold if the message
    ///   was stored and the reply was lost.
    func publishIf(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8], id: String? = nil, last: LastSequence
    ) async throws -> Int? {
        do {
            return try await retrying {
                try await publish(subject, headers: headers, body: body, id: id, expecting: last).sequence
            }
        } catch let error as JetStreamError where error.code == .wrongLastSequence {
            return nil
        }
    }

    /// Reads the messages that a stream has now, in order. After an interruption it continues after the last message,
    /// or begins again if `settings` starts with the last message of each subject.
    func readAll(
        of stream: String, _ settings: ConsumerSettings, _ take: (DeliveredMessage) async throws -> Void
    ) async throws {
        try await read(stream, settings) { delivered in
            if let delivered { try await take(delivered) }
            return delivered != nil
        }
    }

    /// Reads a stream without end. After an interruption it continues after the last message, or begins again if
    /// `settings` starts with the last message of each subject.
    /// - Parameter take: Is called with each message. Nil if the stream has no message at the moment.
    func follow(
        _ stream: String, _ settings: ConsumerSettings, _ take: (DeliveredMessage?) async throws -> Void
    ) async throws -> Never {
        while true {
            try await read(stream, settings) { delivered in
                try await take(delivered)
                return true
            }
        }
    }

    /// - Parameter take: Is called with each message. Nil if the stream has no message at the moment. Returns false for
    ///   the end of the reading.
    private func read(
        _ stream: String, _ settings: ConsumerSettings, _ take: (DeliveredMessage?) async throws -> Bool
    ) async throws {
        var settings = settings
        while true {
            do {
                return try await withConsumer(of: stream, settings) { consumer in
                    let connection = self.connection.connectionCount
                    var expected = 1
                    if consumer.initialPending == 0 {
                        guard try await take(nil) else { return }
                    }
                    while true {
                        let delivery = try await consumer.next()
                        // What was on its way when the connection was lost is missing.
                        guard self.connection.connectionCount == connection else { throw Gap() }
                        guard case .message(let delivered) = delivery else { continue }
                        guard delivered.consumerSequence == expected else { throw Gap() }
                        expected += 1
                        guard try await take(delivered) else { return }
                        if settings.start != .lastPerSubject {
                            settings.start = .sequence(delivered.streamSequence + 1)
                        }
                        if delivered.pending == 0 {
                            guard try await take(nil) else { return }
                        }
                    }
                }
            } catch is Gap {
            } catch let error where error.isTemporary || error.endsConsumer {
                try await connection.pause(2)
            }
        }
    }

    /// Messages of a consumer were lost on their way.
    private struct Gap: Error {}
}

extension NATSHeaders {
    init(_ fields: [(name: String, value: String)]) {
        self.init()
        for field in fields { self[field.name] = field.value }
    }

    /// The headers as ``BatchHeaders`` and the records of documents and letters read them.
    var fields: [String: String] {
        Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension LastSequence {
    init(_ expectation: Expectation) {
        self.init(Int(clamping: expectation.sequence), of: expectation.subject)
    }
}
