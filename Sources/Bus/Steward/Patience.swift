internal import EventBus
internal import NATS
internal import NATSLayout

/// Another steward has taken over. What this one has still to write is refused.
struct Deposed: Error {}

extension JetStream {
    private static let pause = Duration.milliseconds(100)

    /// Repeats an operation while it fails for a reason that passes by itself: no connection, no leader, no reply.
    ///
    /// After a missing reply, the operation may have been executed. So it must be one that can be executed twice.
    func patiently<Result>(_ operation: () async throws -> Result) async throws -> Result {
        while true {
            do {
                return try await operation()
            } catch let error as NATSError where error.isTemporary {
                if error.code == .disconnected { try await waitForConnection() }
            } catch let error as JetStreamError where error.isTemporary {
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Waits until there is a connection, as long as it takes.
    func waitForConnection() async throws {
        for await state in connection.changes() {
            if case .connected = state { return }
        }
        try Task.checkCancellation()
        throw NATSError(.closed, "the connection to NATS has ended")
    }

    /// The journal's last message of a subject, or that of another stream, from its leader.
    func last(_ subject: String, of stream: String) async throws -> StoredMessage? {
        try await patiently { try await lastMessage(of: stream, subject: subject) }
    }

    /// Stores a message on the condition that the last message of a subject has a sequence.
    /// - Returns: The sequence of the message; nil if the condition does not hold. It also does not hold if the message
    ///   was stored and the reply was lost.
    func publishIf(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8], id: String? = nil, last: LastSequence
    ) async throws -> Int? {
        do {
            return try await patiently {
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
        var settings = settings
        while true {
            do {
                try await withConsumer(of: stream, settings) { consumer in
                    guard consumer.initialPending > 0 else { return }
                    var expected = 1
                    while true {
                        guard case .message(let delivered) = try await consumer.next() else { continue }
                        guard delivered.consumerSequence == expected else { throw Gap() }
                        expected += 1
                        try await take(delivered)
                        if settings.start != .lastPerSubject {
                            settings.start = .sequence(delivered.streamSequence + 1)
                        }
                        if delivered.pending == 0 { return }
                    }
                }
                return
            } catch {
                try await recover(from: error)
            }
        }
    }

    /// Reads a stream without end. After an interruption it continues after the last message, or begins again if
    /// `settings` starts with the last message of each subject.
    /// - Parameter take: Is called with each message. Nil if the stream has no message at the moment.
    func follow(
        _ stream: String, _ settings: ConsumerSettings, _ take: (DeliveredMessage?) async throws -> Void
    ) async throws -> Never {
        var settings = settings
        while true {
            do {
                try await withConsumer(of: stream, settings) { consumer in
                    let connection = self.connection.connectionCount
                    var expected = 1
                    if consumer.initialPending == 0 { try await take(nil) }
                    while true {
                        let delivery = try await consumer.next()
                        // What was on its way when the connection was lost is missing.
                        guard self.connection.connectionCount == connection else { throw Gap() }
                        guard case .message(let delivered) = delivery else { continue }
                        guard delivered.consumerSequence == expected else { throw Gap() }
                        expected += 1
                        try await take(delivered)
                        if settings.start != .lastPerSubject {
                            settings.start = .sequence(delivered.streamSequence + 1)
                        }
                        if delivered.pending == 0 { try await take(nil) }
                    }
                }
            } catch {
                try await recover(from: error)
            }
        }
    }

    /// Messages of a consumer were lost on their way.
    private struct Gap: Error {}

    /// Waits until another consumer can be made.
    /// - Throws: The error, if another consumer would not help.
    private func recover(from error: any Error) async throws {
        switch error {
        case is Gap: return
        case let error as NATSError where error.isTemporary || error.code == .overflow: break
        // 404 and 409: the consumer is gone.
        case let error as JetStreamError
        where error.isTemporary || [404, 409].contains(error.status) && error.code != .streamNotFound:
            break
        default: throw error
        }
        try await waitForConnection()
        try await Task.sleep(for: Self.pause)
    }
}

extension NATSError {
    /// True if the same operation may succeed later.
    var isTemporary: Bool { [.noResponders, .timeout, .disconnected, .congested].contains(code) }
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
