internal import Foundation
internal import Support

/// The settings of an ephemeral consumer: in memory, one replica, no acknowledgements.
package struct ConsumerSettings: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        case beginning
        /// The first message to deliver. It may not exist yet.
        case sequence(Int)
        /// The time of the first message to deliver, in nanoseconds since 1970.
        case time(Int64)
        /// The last message of each subject, then all new messages.
        case lastPerSubject

        /// False if the stream's message with this sequence, and all before it, are not to be delivered.
        package func isNotAfter(_ sequence: Int) -> Bool {
            if case .sequence(let first) = self { first <= sequence } else { true }
        }
    }

    /// Subjects, which may contain wildcards but must not overlap. Empty for all messages.
    package var filters: [String]
    package var start: Start
    /// True to deliver messages without their bodies.
    package var headersOnly: Bool
    /// The time without requests after which the server removes the consumer.
    package var inactiveThreshold: Duration

    package init(
        filters: [String] = [], start: Start = .beginning, headersOnly: Bool = false,
        inactiveThreshold: Duration = .seconds(60)
    ) {
        self.filters = filters
        self.start = start
        self.headersOnly = headersOnly
        self.inactiveThreshold = inactiveThreshold
    }

    /// True if the consumer delivers messages of a subject.
    package func selects(_ subject: String) -> Bool {
        filters.isEmpty || filters.contains { subject.matches(pattern: $0) }
    }

    /// The same settings for a consumer that also delivers the messages of a subject.
    package func including(_ subject: String) -> ConsumerSettings {
        var settings = self
        if !selects(subject) { settings.filters.append(subject) }
        return settings
    }

    func request(stream: String, name: String) -> JSONValue {
        let (policy, sequence, time): (String, Int?, Int64?) =
            switch start {
            case .beginning: ("all", nil, nil)
            case .sequence(let sequence): ("by_start_sequence", max(sequence, 1), nil)
            case .time(let time): ("by_start_time", nil, time)
            case .lastPerSubject: ("last_per_subject", nil, nil)
            }
        let config = JSONValue.object(members: [
            ("name", .string(name)), ("ack_policy", "none"), ("mem_storage", true), ("num_replicas", 1),
            ("deliver_policy", .string(policy)), ("opt_start_seq", sequence.map { .integer($0) }),
            ("opt_start_time", time.map { .string(JetStreamTime.text(of: $0)) }),
            // JetStream requires a filter for `last_per_subject`.
            ("filter_subjects", .array((filters.isEmpty ? [">"] : filters).map { .string($0) })),
            ("headers_only", headersOnly ? true : nil),
            ("inactive_threshold", .integer(inactiveThreshold.nanoseconds)),
        ])
        return ["stream_name": .string(stream), "config": config, "action": "create"]
    }
}

/// The sizes of the requests of a ``PullConsumer``.
package struct PullSettings: Hashable, Sendable {
    /// The maximum number of messages that wait to be read. Half of it is one request.
    package var window: Int
    /// The maximum size of the messages that answer one request, in bytes. It must be larger than any message. At most
    /// three requests are under way.
    package var maximumSize: Int
    /// The time after which the server ends a request that it cannot fulfil.
    package var expiry: Duration
    /// The interval at which the server shows that it still has the request. Less than half of ``expiry``.
    package var heartbeat: Duration
    /// The time that the reader lets messages gather on the server when it has read all there are. On a busy stream it
    /// then gets many messages at once, which costs the server and the reader much less than each one as it comes. Nil
    /// to get each one as it comes.
    package var gathering: Duration?

    package init(
        window: Int = 512, maximumSize: Int = 16 << 20, expiry: Duration = .seconds(30),
        heartbeat: Duration = .seconds(5), gathering: Duration? = nil
    ) {
        self.window = window
        self.maximumSize = maximumSize
        self.expiry = expiry
        self.heartbeat = heartbeat
        self.gathering = gathering
    }
}

/// A message that a consumer has delivered.
package struct DeliveredMessage: Sendable {
    package let message: NATSMessage
    /// The message's place in the stream.
    package let streamSequence: Int
    /// The message's place among all that this consumer has delivered, from 1. A gap means that messages were lost.
    package let consumerSequence: Int
    /// The leader's time when it stored the message, in nanoseconds since 1970.
    package let time: Int64
    /// The number of messages that the consumer has still to deliver.
    package internal(set) var pending: Int

    package var subject: String { message.subject }

    /// Nil if a consumer has not delivered the message.
    fileprivate init?(_ message: NATSMessage) {
        guard let reply = message.reply, let place = DeliverySubject(reply) else { return nil }
        self.message = message
        streamSequence = place.streamSequence
        consumerSequence = place.consumerSequence
        time = place.time
        pending = place.pending
    }
}

/// A reader of a stream: an ephemeral consumer that delivers messages in response to requests. One task uses it.
///
/// It requests messages ahead, up to ``PullSettings/window``, unless it lets them gather. It does not check for gaps
/// and does not replace a consumer that the server has lost.
package final class PullConsumer {
    /// An element of the delivery.
    package enum Delivery: Sendable {
        case message(DeliveredMessage)
        /// The server has no message now, and shows that the request is still there.
        /// - Parameter lastConsumerSequence: The consumer sequence of the last message that the server has sent; nil if
        ///   it does not say. If it is higher than that of the last message that has arrived, messages were lost.
        case idle(lastConsumerSequence: Int?)
    }

    package let stream: String
    package let name: String
    /// The number of messages that the consumer had to deliver when it was created.
    package let initialPending: Int
    /// The server that has the consumer, and reads its own replica of the stream. Nil if it is not in a cluster.
    package let server: String?
    private let jetStream: JetStream
    private let settings: PullSettings
    private let token: UInt64
    private let mailbox: Mailbox<NATSMessage>
    /// The number of messages that were requested and have not arrived.
    private var requested = 0
    /// The number of messages that the consumer had to deliver when it delivered the last one.
    private var pending: Int

    fileprivate init(
        _ jetStream: JetStream, stream: String, name: String, subject: String, initialPending: Int, server: String?,
        settings: PullSettings, token: UInt64, mailbox: Mailbox<NATSMessage>
    ) {
        self.jetStream = jetStream
        self.stream = stream
        self.name = name
        self.subject = subject
        self.initialPending = initialPending
        pending = initialPending
        self.server = server
        self.settings = settings
        self.token = token
        self.mailbox = mailbox
    }

    /// The subject of requests.
    private let subject: String

    /// Waits for the next message or sign of life.
    /// - Throws: ``NATSError`` `timeout` if two heartbeats are missing, `disconnected`, `overflow`; ``JetStreamError``
    ///   with status 404 or 409 if the server has lost the consumer; `CancellationError`. After an error, make another
    ///   consumer that begins after the last message.
    ///
    /// - Parameter handleAtOnce: Is asked first about each message that comes while the call waits. If it handles the
    ///   message, the call continues to wait: a message then needs no switch of tasks. The thread that receives calls
    ///   it while the caller's task waits. It must not wait.
    package func next(handlingAtOnce handleAtOnce: ((DeliveredMessage) -> Bool)? = nil) async throws -> Delivery {
        var mailboxHandler: Mailbox<NATSMessage>.HandleAtOnce?
        if let handleAtOnce {
            // The mailbox calls the closure only while this task waits in it.
            nonisolated(unsafe) let (consumer, handle) = (self, handleAtOnce)
            mailboxHandler = { consumer.handleAtOnce($0, handle) }
        }
        while true {
            try await requestMore()
            let (subject, patience) = (subject, settings.heartbeat * 2)
            let message = try await mailbox.next(
                timeout: patience, late: { NATSError.timeout(subject, patience) },
                handlingAtOnce: mailboxHandler)
            guard let message else { throw NATSError.closed }
            if let delivery = try read(message) { return delivery }
        }
    }

    private func requestMore() async throws {
        if let gathering = settings.gathering {
            // The server answers a request for what it has at once. A request for more would get each message as it
            // comes, so only the first one is waited for.
            guard requested == 0 else { return }
            if pending == 0 { try await Task.sleep(for: gathering) }
            try request(min(max(pending, 1), settings.window))
        } else if requested <= settings.window / 2 {
            // A reader that finds messages waiting asks for more when half of the window is used.
            try request(max(settings.window - requested, 1))
        }
    }

    private func request(_ count: Int) throws {
        let body: JSONValue = [
            "batch": .integer(count), "max_bytes": .integer(settings.maximumSize),
            "expires": .integer(settings.expiry.nanoseconds),
            "idle_heartbeat": .integer(settings.heartbeat.nanoseconds),
        ]
        let connection = jetStream.connection
        try connection.sendRequest(
            subject, body: Array(body.description.utf8), to: token, in: connection.deliveries)
        requested += count
    }

    /// Lets a message be handled at once, unless more must be requested after it.
    private func handleAtOnce(_ message: NATSMessage, _ handle: (DeliveredMessage) -> Bool) -> Bool {
        guard requested > settings.window / 2 + 1, let delivered = DeliveredMessage(message), handle(delivered) else {
            return false
        }
        requested -= 1
        return true
    }

    /// - Returns: Nil for a message that only ends a request.
    private func read(_ message: NATSMessage) throws -> Delivery? {
        if let delivered = DeliveredMessage(message) {
            requested -= 1
            pending = delivered.pending
            return .message(delivered)
        }
        switch message.status {
        case 100: return .idle(lastConsumerSequence: message.header("Nats-Last-Consumer").flatMap { Int(count: $0) })
        case let status? where Self.endsOnlyRequest(status, message.statusText):
            // The rest of this request will not come.
            requested = max(
                0, requested - (message.header("Nats-Pending-Messages").flatMap { Int(count: $0) } ?? requested))
            return nil
        case 503: throw NATSError.noResponders(subject)
        case let status:
            throw JetStreamError(status: status ?? 500, text: message.statusText, subject: subject)
        }
    }

    /// True for a status after which the consumer still exists.
    private static func endsOnlyRequest(_ status: Int, _ text: String) -> Bool {
        status == 408
            || status == 409
                && ["Batch Completed", "Message Size Exceeds MaxBytes", "Exceeded MaxWaiting"].contains(text)
    }
}

extension JetStream {
    /// The number of consumers that are created until one is on a wanted server. JetStream places a consumer at random;
    /// with three servers, 20 attempts fail in one of 3,000 cases.
    private static let placements = 20
    /// The number of times that a consumer with messages may be idle: a ``ComparedConsumer`` then asks another server.
    private static let idleCount = 2

    /// Creates a consumer on a wanted server, and deletes it after `body` has returned or thrown.
    /// - Parameter isWanted: Is called with the name of the server that JetStream has chosen.
    /// - Returns: Nil if no consumer was placed on a wanted server.
    package func withConsumer<Result>(
        of stream: String, _ consumer: ConsumerSettings, pulling: PullSettings = PullSettings(),
        on isWanted: (String?) -> Bool, _ body: (PullConsumer) async throws -> Result
    ) async throws -> Result? {
        for _ in 0..<Self.placements {
            let result: Result? = try await withAnyConsumer(of: stream, consumer, pulling: pulling) { consumer in
                isWanted(consumer.server) ? try await body(consumer) : nil
            }
            if let result { return result }
        }
        return nil
    }

    /// The sequence of the first message that a consumer with these settings gets; nil if there is none now.
    /// - Parameter server: The only server that is asked. Nil for any, whose answer is compared with that of another
    ///   one.
    package func firstSequence(
        of stream: String, _ settings: ConsumerSettings, on server: String? = nil
    ) async throws -> UInt64? {
        let pulling = PullSettings(window: 1)
        guard let server else {
            return try await withConsumer(of: stream, settings, pulling: pulling) { consumer in
                try await Self.firstSequence(consumer.initialPending, of: stream) { try await consumer.next() }
            }
        }
        let first: UInt64?? = try await withConsumer(
            of: stream, settings, pulling: pulling, on: { $0 ?? server == server }
        ) { consumer in
            try await Self.firstSequence(consumer.initialPending, of: stream) { try await consumer.next() }
        }
        guard let first else { throw NATSError(.timeout, "\(server) does not serve \(stream) now") }
        return first
    }

    /// - Throws: ``NATSError`` `timeout` if the consumer is idle although it has messages: another one may deliver
    ///   them.
    static func firstSequence(
        _ pending: Int, of stream: String, _ next: () async throws -> PullConsumer.Delivery
    ) async throws -> UInt64? {
        guard pending > 0 else { return nil }
        for _ in 0..<idleCount {
            if case .message(let delivered) = try await next() { return UInt64(delivered.streamSequence) }
        }
        throw NATSError(.timeout, "a consumer of \(stream) does not deliver any of its \(pending) messages")
    }

    /// Creates a consumer on a server that JetStream chooses, and deletes it after `body` has returned or thrown.
    func withAnyConsumer<Result>(
        of stream: String, _ consumer: ConsumerSettings, pulling: PullSettings,
        _ body: (PullConsumer) async throws -> Result
    ) async throws -> Result {
        let token = connection.deliveries.makeToken()
        let name = "\(connection.name)-\(ReplyInbox.text(token))"
        let subject = "\(Self.prefix)CONSUMER.MSG.NEXT.\(stream).\(name)"
        // The limit leaves room for the status messages between the messages.
        return try await connection.withDeliveries(to: subject, token, limit: pulling.window * 2 + 64) { mailbox in
            let response = try await call(
                "CONSUMER.CREATE.\(stream).\(name)", consumer.request(stream: stream, name: name))
            let pull = PullConsumer(
                self, stream: stream, name: name, subject: subject,
                initialPending: response["num_pending"]?.countValue ?? 0,
                server: response["cluster"]?["leader"]?.stringValue,
                settings: pulling, token: token, mailbox: mailbox)
            defer {
                // Nothing waits for the response. Without a connection, the server removes the idle consumer itself.
                try? connection.publish(
                    "\(Self.prefix)CONSUMER.DELETE.\(stream).\(name)", reply: connection.inbox.reply(0))
            }
            return try await body(pull)
        }
    }
}

/// The reply subject of a delivered message, which contains its place.
struct DeliverySubject: Hashable {
    let streamSequence: Int
    let consumerSequence: Int
    let time: Int64
    let pending: Int

    /// Parses `$JS.ACK.STREAM.CONSUMER.DELIVERED.STREAMSEQ.CONSUMERSEQ.TIME.PENDING`. With a domain, two parts precede
    /// the stream's name, and others may follow the number of pending messages.
    init?(_ subject: String) {
        let dot = UInt8(ascii: ".")
        guard subject.utf8.starts(with: "$JS.ACK.".utf8),
            let consumer = Self.consumerIndex(partCount: subject.utf8.count { $0 == dot } + 1)
        else { return nil }
        var rest = subject.utf8[...]
        for _ in 0..<consumer + 2 { rest = rest.drop { $0 != dot }.dropFirst() }
        func next() -> Substring {
            let digits = rest.prefix { $0 != dot }
            rest = rest[digits.endIndex...].dropFirst()
            return Substring(digits)
        }
        guard let streamSequence = Int(count: next()), let consumerSequence = Int(count: next()),
            let time = Int64(next()), let pending = Int(count: next())
        else { return nil }
        self.streamSequence = streamSequence
        self.consumerSequence = consumerSequence
        self.time = time
        self.pending = pending
    }

    /// The index of the consumer's name among the parts. Nil if there are too few parts.
    static func consumerIndex(partCount: Int) -> Int? {
        switch partCount {
        case 9: 3
        case 11...: 5
        default: nil
        }
    }
}

extension String {
    /// True if a pattern of NATS with `*` and `>` selects this subject.
    package func matches(pattern: String) -> Bool {
        let (tokens, wanted) = (split(scalar: "."), pattern.split(scalar: "."))
        if ">" == wanted.last {
            return tokens.count >= wanted.count && zip(tokens, wanted.dropLast()).allSatisfy { "*" == $1 || $0 == $1 }
        }
        return tokens.count == wanted.count && zip(tokens, wanted).allSatisfy { "*" == $1 || $0 == $1 }
    }
}
