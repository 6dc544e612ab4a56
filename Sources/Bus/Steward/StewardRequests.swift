internal import EventBus
internal import NATS
internal import NATSJournal
internal import NATSLayout

/// Another steward has taken over. Further writes of this one are refused.
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
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8], last: LastSequence
    ) async throws -> Int? {
        do {
            return try await retrying {
                try await publish(subject, headers: headers, body: body, expecting: last).sequence
            }
        } catch let error as JetStreamError where error.code == .wrongLastSequence {
            return nil
        }
    }

    /// Reads the messages that a stream has now, in order. After an interruption it continues after the last message,
    /// or begins again if `settings` starts with the last message of each subject.
    ///
    /// The consumer may be on a server that lags behind the others. So the reading ends with the stream's newest
    /// message of any subject, as the leader has it.
    func readAll(
        of stream: String, _ settings: ConsumerSettings, _ handle: (DeliveredMessage) async throws -> Void
    ) async throws {
        var start = settings.start
        var wait = connection.waits.operation()
        defer { wait.end() }
        // For `>`, nats-server reads only the last sequence, whose message may have been removed.
        while let newest = try await last("*.>", of: stream), start.isNotAfter(newest.sequence) {
            var withNewest = settings.including(newest.subject)
            withNewest.start = start
            let isComplete = try await read(
                stream, settings: &withNewest, wait: &wait, pulling: PullSettings(heartbeat: .milliseconds(500))
            ) { event in
                switch event {
                case .message(let delivered):
                    if settings.selects(delivered.subject) { try await handle(delivered) }
                    return delivered.streamSequence < newest.sequence ? .goOn : .end
                case .caughtUp: return .goOn
                // The server lags behind, or the newest message has been removed.
                case .idle: return .renew
                }
            }
            if isComplete { return }
            start = withNewest.start
        }
    }

    /// Reads a stream without end. After an interruption it continues after the last message, or begins again if
    /// `settings` starts with the last message of each subject.
    /// - Parameters:
    ///   - gathering: The time that messages may gather on the server, as in ``PullSettings``.
    ///   - handle: Is called with each message. Nil if the stream has no message at the moment.
    func follow(
        _ stream: String, _ settings: ConsumerSettings, gathering: Duration? = nil,
        _ handle: (DeliveredMessage?) async throws -> Void
    ) async throws -> Never {
        var settings = settings
        var wait = connection.waits.operation()
        defer { wait.end() }
        while true {
            let pulling = PullSettings(gathering: gathering)
            _ = try await read(stream, settings: &settings, wait: &wait, pulling: pulling) { event in
                switch event {
                case .message(let delivered): try await handle(delivered)
                case .caughtUp: try await handle(nil)
                case .idle: break
                }
                return .goOn
            }
        }
    }

    private enum ReadEvent {
        case message(DeliveredMessage)
        /// The consumer's server has no message now.
        case caughtUp
        /// It has had none for some time.
        case idle
    }

    private enum ReadStep { case goOn, end, renew }

    /// Reads with one consumer.
    /// - Returns: True if `handle` has returned `end`; false if another consumer is needed. Unless `settings` start
    ///   with the last message of each subject, they then start after the last message.
    private func read(
        _ stream: String, settings: inout ConsumerSettings, wait: inout Waits.Operation, pulling: PullSettings,
        _ handle: (ReadEvent) async throws -> ReadStep
    ) async throws -> Bool {
        var start = settings.start
        defer { settings.start = start }
        do {
            return try await withConsumer(of: stream, settings, pulling: pulling) { consumer in
                let connection = self.connection.connectionCount
                var expected = 1
                var step = consumer.initialPending == 0 ? try await handle(.caughtUp) : .goOn
                while step == .goOn {
                    let delivery = try await consumer.next()
                    wait.end()
                    // What was on its way when the connection was lost is missing.
                    guard self.connection.connectionCount == connection else { return false }
                    guard case .message(let delivered) = delivery else {
                        step = try await handle(.idle)
                        continue
                    }
                    guard delivered.consumerSequence == expected else { return false }
                    expected += 1
                    step = try await handle(.message(delivered))
                    if start != .lastPerSubject { start = .sequence(delivered.streamSequence + 1) }
                    if step == .goOn, delivered.pending == 0 { step = try await handle(.caughtUp) }
                }
                return step == .end
            }
        } catch let error where error.isTemporary || error.endsConsumer {
            wait.recordFailure("\(error)")
            try await connection.pause(2)
            return false
        }
    }
}
