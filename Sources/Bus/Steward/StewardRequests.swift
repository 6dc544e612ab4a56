internal import EventBus
internal import NATS
internal import NATSLayout

/// Another steward has taken over. Further writes of this one are refused.
struct Deposed: Error {}

/// The requests of a steward. They wait while servers are away.
extension JetStream {
    /// The journal's last message of a subject, or that of another stream, from its leader.
    func last(_ subject: String, of stream: String) async throws -> StoredMessage? {
        try await retrying { try await lastMessage(of: stream, subject: subject) }
    }

    /// The sequence of the first message that a consumer with these settings gets; nil if there is none now.
    func firstSequence(of stream: String, _ settings: ConsumerSettings) async throws -> UInt64? {
        try await retrying {
            try await withConsumer(of: stream, settings, pulling: PullSettings(window: 1)) { consumer in
                try await Self.firstSequence(consumer.initialPending) { try await consumer.next() }
            }
        }
    }

    /// The same, but on one server; on any if `server` is nil.
    func firstSequence(of stream: String, _ settings: ConsumerSettings, on server: String?) async throws -> UInt64? {
        try await retrying {
            let first: UInt64?? = try await withConsumer(
                of: stream, settings, pulling: PullSettings(window: 1), on: { $0 ?? server == server }
            ) { consumer in
                try await Self.firstSequence(consumer.initialPending) { try await consumer.next() }
            }
            guard let first else { throw NATSError(.timeout, "\(server ?? "the server") does not serve \(stream) now") }
            return first
        }
    }

    private static func firstSequence(
        _ pending: Int, _ next: () async throws -> PullConsumer.Delivery
    ) async throws -> UInt64? {
        guard pending > 0 else { return nil }
        while true {
            if case .message(let delivered) = try await next() { return UInt64(delivered.streamSequence) }
        }
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

    /// Stores a record on the condition that the last message of a subject has a sequence: see
    /// ``publishIf(_:headers:body:id:last:)``.
    func publishIf(
        _ subject: String, record: some LayoutRecord, id: String? = nil, last: LastSequence
    ) async throws -> Int? {
        let (headers, body) = try record.message()
        return try await publishIf(subject, headers: NATSHeaders(headers), body: body, id: id, last: last)
    }

    /// Reads the messages that a stream has now, in order. After an interruption it continues after the last message,
    /// or begins again if `settings` starts with the last message of each subject.
    ///
    /// The consumer may be on a server that lags behind the others. So the reading ends with the stream's newest
    /// message of any subject, as the leader has it.
    func readAll(
        of stream: String, _ settings: ConsumerSettings, _ take: (DeliveredMessage) async throws -> Void
    ) async throws {
        var start = settings.start
        var wait = connection.waits.operation()
        defer { wait.end() }
        // For `>`, nats-server reads only the last sequence, whose message may have been removed.
        while let newest = try await last("*.>", of: stream), start.isNotAfter(newest.sequence) {
            var withNewest = settings.including(newest.subject)
            withNewest.start = start
            let isComplete = try await read(
                stream, &withNewest, &wait, pulling: PullSettings(heartbeat: .milliseconds(500))
            ) { event in
                switch event {
                case .message(let delivered):
                    if settings.selects(delivered.subject) { try await take(delivered) }
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
    ///   - take: Is called with each message. Nil if the stream has no message at the moment.
    func follow(
        _ stream: String, _ settings: ConsumerSettings, gathering: Duration? = nil,
        _ take: (DeliveredMessage?) async throws -> Void
    ) async throws -> Never {
        var settings = settings
        var wait = connection.waits.operation()
        defer { wait.end() }
        while true {
            _ = try await read(stream, &settings, &wait, pulling: PullSettings(gathering: gathering)) { event in
                switch event {
                case .message(let delivered): try await take(delivered)
                case .caughtUp: try await take(nil)
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
    /// - Returns: True if `take` has returned `end`; false if another consumer is needed. Unless `settings` start with
    ///   the last message of each subject, they then start after the last message.
    private func read(
        _ stream: String, _ settings: inout ConsumerSettings, _ wait: inout Waits.Operation, pulling: PullSettings,
        _ take: (ReadEvent) async throws -> ReadStep
    ) async throws -> Bool {
        var start = settings.start
        defer { settings.start = start }
        do {
            return try await withConsumer(of: stream, settings, pulling: pulling) { consumer in
                let connection = self.connection.connectionCount
                var expected = 1
                var step = consumer.initialPending == 0 ? try await take(.caughtUp) : .goOn
                while step == .goOn {
                    let delivery = try await consumer.next()
                    wait.end()
                    // What was on its way when the connection was lost is missing.
                    guard self.connection.connectionCount == connection else { return false }
                    guard case .message(let delivered) = delivery else {
                        step = try await take(.idle)
                        continue
                    }
                    guard delivered.consumerSequence == expected else { return false }
                    expected += 1
                    step = try await take(.message(delivered))
                    if start != .lastPerSubject { start = .sequence(delivered.streamSequence + 1) }
                    if step == .goOn, delivered.pending == 0 { step = try await take(.caughtUp) }
                }
                return step == .end
            }
        } catch let error where error.isTemporary || error.endsConsumer {
            wait.note("\(error)")
            try await connection.pause(2)
            return false
        }
    }
}

/// Reads records of the bus, and reports those that are damaged.
///
/// Every method throws ``ProtocolError`` with code `version` if a newer program has written the record.
struct RecordReader: Sendable {
    let jetStream: JetStream
    let names: StreamNames
    let notices: StewardNotices

    /// The last record of a subject, from the stream's leader.
    func last<Record: LayoutRecord>(
        _ type: Record.Type, _ subject: BusSubject, of stream: String
    ) async throws -> RecordReading<Record> {
        let last = try await jetStream.last(subject.text(in: names.namespace), of: stream)
        guard let last else { return .absent }
        return checked(
            try RecordReading(
                json: last.body, copy: Record.copyHeader.flatMap { last.headers[$0] }, subject: last.subject,
                sequence: last.sequence))
    }

    func record<Record: LayoutRecord>(
        _ type: Record.Type, in delivered: DeliveredMessage
    ) throws -> RecordReading<Record> {
        checked(
            try RecordReading(
                json: delivered.message.body, copy: Record.copyHeader.flatMap { delivered.message.header($0) },
                subject: delivered.subject, sequence: delivered.streamSequence))
    }

    private func checked<Record>(_ record: RecordReading<Record>) -> RecordReading<Record> {
        if let damaged = record.damage { notices.report(damaged) }
        return record
    }
}

extension NATSHeaders {
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
