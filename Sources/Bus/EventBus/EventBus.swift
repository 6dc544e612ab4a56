/// A publish-subscribe bus with a journal: the interface that transports implement and services use.
///
/// Keep a call of ``run()`` running for as long as the bus is used.
public protocol EventBus: Sendable {
    /// The CloudEvents source of the messages that this process publishes: `name/instance`.
    var source: String { get }

    /// The executor of the bus's own thread; `nil` for a bus without such a thread. Tasks that prefer this executor,
    /// and actors that run on it, receive messages without a change of threads. They must not block the thread.
    var taskExecutor: (any SerialExecutor & TaskExecutor)? { get }

    /// Waits until the bus can be used. Returns at once if the bus needs no connection.
    /// - Throws: ``BusError`` with code `unavailable` if no broker answers within `timeout`.
    func waitUntilConnected(timeout: Duration) async throws

    /// The maximum size of a batch in bytes: 8 MiB, or less if the servers of the bus accept less. Waits until the limit
    /// is known. ``publish(_:)`` refuses a larger batch, with the limit in the error.
    ///
    /// Each message counts with its data, its attributes as JSON, and its type, subject and key.
    /// - Throws: ``BusError``: `closed` if the bus is closed, `address` if its servers cannot be used.
    func maximumBatchSize() async throws -> Int

    /// Publishes a batch, either the whole batch or nothing. Returns when the journal has recorded the batch.
    /// - Returns: A position up to which the journal contains the whole batch: that of its last message; the other
    ///   messages have the positions directly before it. The offsets of two batches need not follow each other. For an
    ///   empty batch, or one whose checkpoint is already recorded, the end of the journal.
    /// - Throws: ``BusError``: `refused` if the batch or a message is invalid, `closed` if the bus is closed, `journal`
    ///   if the journal cannot be written now, `fenced` if the claim of the checkpoint no longer owns its partition,
    ///   `unrecorded` if the checkpoint's predecessor is not recorded, `epoch` if the checkpoint is not a position of
    ///   this journal, `letter` if a dead letter to settle, or the message to give up, does not exist.
    @discardableResult
    func publish(_ batch: Batch) async throws -> Position

    /// Sends messages to the current subscribers only. They are not recorded in the journal, have no position, and may
    /// be lost. Returns when the broker has received them, or, on NATS, when they are on their way.
    /// - Throws: ``BusError``: `refused` if a message is a document or a query, or too large, `closed` if the bus is
    ///   closed.
    func publishTransient(_ messages: [Envelope]) async throws

    /// Subscribes for as long as `body` runs. The subscription is live before `body` begins.
    /// - Parameters:
    ///   - end: The messages end when every matching message up to this position has been delivered. Nil for no end.
    ///   - onNotice: Called when the feed dropped messages, or retention removed them before they were read. It must
    ///     not block.
    /// - Throws: ``BusError``: `epoch` if `start` or `end` belongs to another journal, or `start` is beyond the end of
    ///   this one.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// Subscribes to the messages of a claim that are not handled yet. The messages end when the claim may no longer be
    /// valid; then claim again.
    ///
    /// - Parameter progress: The oldest message that the reader has taken and not finished. The reader must update it
    ///   before it asks for the next message. If it is `nil`, the reader must publish the checkpoint of a message
    ///   before it asks for the next one. While a reader waits, a bus may record that every message before the oldest
    ///   unfinished one is handled.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// The retained documents that match any of the filters, in the order in which they were published. Documents with
    /// an unreadable header are left out.
    /// - Parameters:
    ///   - offset: Only documents that were published after this offset are returned.
    ///   - limit: The maximum number of documents.
    func documents(matching filters: [MessageFilter], after offset: UInt64, limit: Int) async throws -> [Envelope]

    /// The retained document of this type, subject and key; `nil` if there is none, or if its header cannot be read.
    func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope?

    /// The end of the journal: the position of the last recorded message, or offset 0. It is never before a batch that
    /// any publisher had recorded when this method was called. Nothing is recorded, so this works while the journal
    /// cannot be written.
    func end() async throws -> Position

    /// The position of the newest message of each type that a filter selects, even if retention has removed that
    /// message. A bus may ignore the subjects of the filters.
    func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position]

    /// The number of messages after a position whose type a filter selects, and that retention has not removed. If the
    /// position belongs to another journal, all messages of this one count. A bus may ignore the subjects of the
    /// filters.
    ///
    /// Use this instead of the difference of two offsets, which is not a number of messages.
    /// - Returns: At most 10,000, which means 10,000 or more: a bus stops counting there.
    func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64

    /// The position that is about `distance` messages, of any type, after a position, or before it if `distance` is
    /// negative. Offset 0 if the journal has fewer messages before the position. If it has fewer messages after it, a
    /// bus may return a position beyond the end of the journal.
    ///
    /// A reader uses it to read a journal in stretches of a limited number of messages.
    func position(_ position: Position, offsetBy distance: Int) async throws -> Position

    /// Claims partitions of a durable consumer for a member. See ``ConsumerMember/Mode``.
    /// - Throws: ``BusError``: `fenced` if the member is exclusive and another one has taken over; `refused` if the
    ///   name is invalid, or if there are too many consumers or members.
    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim

    /// Ends a membership in a durable consumer. The partitions of a shared member go to the other members, if there are
    /// any. An exclusive member keeps its partitions until another member claims them. This also works in a cancelled
    /// task.
    func leave(consumer: String, as member: ConsumerMember) async

    /// The durable consumers whose progress the journal keeps, sorted by name.
    func consumers() async throws -> [DurableConsumer]

    /// Removes a durable consumer: its progress is lost, and retention no longer keeps messages for it. Its dead
    /// letters stay. Does nothing if there is no consumer of this name.
    /// - Throws: ``BusError``: `refused` while a process runs the consumer, or while the bus does not know if one does.
    func forget(consumer: String) async throws

    /// A page of the dead letters: the messages that durable consumers gave up, oldest first. A page without letters
    /// is after the last one. A page may have fewer letters than `limit`, so that it does not get too large.
    /// - Parameters:
    ///   - consumer: The consumer whose dead letters are returned; `nil` for those of all consumers.
    ///   - id: Only dead letters with a higher id are returned; ids start at 1.
    ///   - limit: The maximum number of dead letters of the page.
    func deadLetters(of consumer: String?, after id: DeadLetter.ID, limit: Int) async throws -> [DeadLetter]

    /// A page of the dead letters without the data of their messages. See ``deadLetters(of:after:limit:)``.
    func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary]

    /// The number of the dead letters of a consumer, or of all consumers if it is `nil`.
    func deadLetterCount(of consumer: String?) async throws -> Int

    /// Sends a query to one of the processes that serve its type. The query is not recorded in the journal.
    /// - Returns: The answer: a message of the query's type, or an error message.
    /// - Throws: ``BusError``: `unserved` if no process serves the query or the process that served it has ended,
    ///   `deadline` if no answer came within `timeout`, `cancelled` if the serving process stopped or failed to answer.
    func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope

    /// Answers queries of these types, several at a time, until the task is cancelled or the bus is closed.
    /// - Parameters:
    ///   - whenServing: Called once, when queries can arrive.
    ///   - answer: Returns the answer to a query. If it throws, the asker gets a ``BusError`` with code `cancelled`.
    func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws

    /// Runs the bus until the task is cancelled.
    func run() async throws
}

extension EventBus {
    /// The time after which a command from a view expires by default: 60 s.
    public static var commandLifetime: Duration { Attributes.usualLifetime }

    /// Sends a command. A command from a view, that is one whose origin or cause has a device, expires after
    /// ``commandLifetime``. Other commands do not expire.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        try await send(command, subject, origin, cause) { $0.expireAsUsual() }
    }

    /// Sends a command that expires after `lifetime`, or never if `lifetime` is nil.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil, lifetime: Duration?
    ) async throws -> Envelope {
        try await send(command, subject, origin, cause) { $0.expire(after: lifetime) }
    }

    private func send(
        _ command: some CommandMessage, _ subject: String, _ origin: Origin, _ cause: Envelope?,
        expire: (inout Attributes) -> Void
    ) async throws -> Envelope {
        var envelope = try Envelope(command, source: source, subject: subject, origin: origin, causedBy: cause)
        expire(&envelope.attributes)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
    }

    /// Wraps a message that another message caused, as ``Envelope/init(_:source:causedBy:origin:id:)`` does.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        try Envelope(message, source: source, causedBy: cause.attributes)
    }

    /// Publishes an event, an error or a document.
    /// - Returns: The envelope with its position.
    @discardableResult
    public func publish(
        _ message: some PublishableMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        var envelope = try Envelope(message, source: source, subject: subject, origin: origin, causedBy: cause)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
    }

    @available(*, unavailable, message: "a command is sent: use send(_:), which lets it expire")
    @discardableResult
    public func publish(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        try await send(command, subject: subject, origin: origin, causedBy: cause)
    }

    /// The retained document of this type, subject and key; nil if there is none, or if its header cannot be read.
    /// - Throws: ``BusError`` with code `malformed` if the document's data does not match its type.
    public func document<D: DocumentMessage>(
        _ type: D.Type, subject: String = Session.default, key: String? = nil
    ) async throws -> D? {
        try await document(type.type, subject: subject, key: key)?.decode(D.self)
    }
}

extension EventBus {
    /// The position of the newest message of a type that a filter selects; offset 0 if there is none. A bus may ignore
    /// the subjects of the filters.
    public func newest(matching filters: [MessageFilter]) async throws -> Position {
        let newest = try await newestOfEachType(matching: filters).values
        if let last = newest.max(by: { $0.offset < $1.offset }) { return last }
        return Position(epoch: try await end().epoch, offset: 0)
    }

    /// The retained documents that match any of the filters, in the order in which they were published. Documents with
    /// an unreadable header are left out.
    public func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        try await documents(matching: filters, after: 0, limit: .max)
    }
}

extension EventBus {
    /// All dead letters of a consumer, or of all consumers if it is `nil`, oldest first. They can be large together:
    /// ``deadLetters(of:after:limit:)`` returns them in pages.
    public func deadLetters(of consumer: String?) async throws -> [DeadLetter] {
        var letters: [DeadLetter] = []
        try await forEachPage {
            try await deadLetters(of: consumer, after: $0, limit: .max)
        } _: {
            letters += $0
        }
        return letters
    }

    /// The dead letter with an id; `nil` if there is none.
    public func deadLetter(_ id: DeadLetter.ID) async throws -> DeadLetter? {
        guard id > 0 else { return nil }
        return try await deadLetters(of: nil, after: id - 1, limit: 1).first { $0.id == id }
    }

    /// The dead letter with an id, without the data of its message; `nil` if there is none.
    public func deadLetterSummary(_ id: DeadLetter.ID) async throws -> DeadLetter.Summary? {
        guard id > 0 else { return nil }
        return try await deadLetterSummaries(of: nil, after: id - 1, limit: 1).first { $0.id == id }
    }

    /// Reads pages, each after the last id of the page before, until one is empty.
    package func forEachPage<Letter: Identifiable<DeadLetter.ID>>(
        _ page: (_ after: DeadLetter.ID) async throws -> [Letter], _ body: ([Letter]) async throws -> Void
    ) async throws {
        var last: DeadLetter.ID = 0
        while true {
            let letters = try await page(last)
            guard let id = letters.last?.id else { return }
            try await body(letters)
            last = id
        }
    }
}

extension EventBus {
    /// Subscribes for as long as `body` runs, without an end position and without notices.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, from: start, until: nil, onNotice: nil, body)
    }
}

extension EventBus {
    /// Subscribes to the messages of a claim, for a reader that publishes the checkpoint of a message before it asks
    /// for the next one.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, under: claim, progress: nil, body)
    }

    public var taskExecutor: (any SerialExecutor & TaskExecutor)? { nil }

    public func waitUntilConnected(timeout: Duration) async throws {}

    public func maximumBatchSize() async throws -> Int { Limits.batchSize }
}

extension EventBus {
    /// Claims a durable consumer for a new exclusive member. The previous owner is fenced.
    public func claim(consumer: String) async throws -> ConsumerClaim {
        try await claim(consumer: consumer, as: .exclusive)
    }

    /// Runs `body` with a new member of a durable consumer. The member leaves when `body` ends.
    public func withMember<Result>(
        of consumer: String, _ mode: ConsumerMember.Mode, _ body: (ConsumerMember) async throws -> Result
    ) async throws -> Result {
        let member = ConsumerMember(mode)
        do {
            let result = try await body(member)
            await leave(consumer: consumer, as: member)
            return result
        } catch {
            await leave(consumer: consumer, as: member)
            throw error
        }
    }

    /// Asks the bus if a claim is still valid.
    /// - Throws: ``BusError``: `fenced` or `epoch` if the claim is no longer valid.
    package func confirm(_ claim: ConsumerClaim) async throws {
        try await publish(Batch([], checkpoint: Checkpoint(claim: claim, position: claim.position)))
    }
}

extension EventBus {
    /// Sends a query and decodes its answer.
    /// - Parameters:
    ///   - timeout: The maximum time to wait for the answer.
    ///   - failure: Makes the error to throw if the answer is an error message; by default a ``BusError`` with code
    ///     `refused`.
    /// - Throws: The same as ``ask(_:timeout:)``, or ``BusError`` with code `malformed` if the data of the answer
    ///   cannot be decoded.
    public func ask<Query: QueryMessage>(
        _ query: Query, subject: String = Session.default, timeout: Duration = .seconds(5),
        failure: (Envelope) -> any Error = { BusError(.refused, "the query was answered with \($0.type)") }
    ) async throws -> Query.Answer {
        let answer = try await ask(Envelope(query, source: source, subject: subject), timeout: timeout)
        if answer.type.kind == .error { throw failure(answer) }
        return try answer.decodeData(as: Query.Answer.self)
    }
}

extension EventBus {
    /// Runs the bus for as long as `body` runs, then closes it.
    /// - Throws: The error of `body` or of ``run()``, whichever comes first.
    public func whileOpen<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                do { try await run() } catch is CancellationError {}
                return nil
            }
            group.addTask { try await body() }
            while let result = try await group.next() {
                guard let result else { continue }
                // The bus says good-bye and closes when its task is cancelled.
                group.cancelAll()
                try await group.waitForAll()
                return result
            }
            throw BusError(.closed, "the bus ended while it was in use")
        }
    }
}
