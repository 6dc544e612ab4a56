/// Publish and subscribe, with a memory: what every transport offers and all else is built on.
///
/// A bus works while ``run()`` does; every task it needs is a child of that call.
public protocol EventBus: Sendable {
    /// The CloudEvents source of what this process publishes: `name/instance`.
    var source: String { get }

    /// The executor of the bus's own thread. Tasks that prefer it and actors that run on it receive messages without a change of
    /// threads. They must not block it, because the bus does nothing else meanwhile. `nil` for a bus without such a thread.
    var taskExecutor: (any SerialExecutor & TaskExecutor)? { get }

    /// Waits until the bus can be used; returns at once for a bus without a connection.
    /// - Throws: ``BusError`` with code `unavailable` if nothing answers within `timeout`.
    func waitUntilConnected(timeout: Duration) async throws

    /// Appends a batch, all or nothing. Returns once it is journalled: from then on nothing loses it.
    /// - Returns: the position of the last message, which those before it stand directly before; or the journal's end for an
    ///   empty batch.
    /// - Throws: ``BusError``: `fenced` if the checkpoint's claim no longer owns its partition, `refused` if a message is not
    ///   acceptable, `journal` if it cannot be journalled now.
    @discardableResult
    func publish(_ batch: Batch) async throws -> Position

    /// Subscribes for as long as `body` runs. The subscription is live before `body` begins: whatever is published from
    /// then on arrives.
    /// - Parameters:
    ///   - end: the messages end behind this position, as soon as nothing before it is missing; nil for never.
    ///   - onNotice: is told what was lost; called on a thread of the bus, so that it must return at once.
    /// - Throws: ``BusError``: `epoch` if a position is not of this journal.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// Subscribes to what a claim covers, from where it is handled up to. The messages end when the claim no longer says
    /// what its member owns: claim again then.
    ///
    /// - Parameter progress: the messages that the reader has taken and not finished; it must be brought up to date before
    ///   the reader asks for the next message. With `nil` the reader must publish the checkpoint of a message before it asks
    ///   for the next one. While a reader waits, a bus may record that everything before the oldest unfinished message is
    ///   handled.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// The retained documents that match, oldest first.
    func documents(matching filters: [MessageFilter]) async throws -> [Envelope]

    /// The retained document of this type, subject and key; `nil` if there is none. Its cost does not depend on the number
    /// of documents.
    func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope?

    /// The position of the newest message that matches by type; offset 0 if there is none.
    func newest(matching filters: [MessageFilter]) async throws -> Position

    /// The position of the newest message of each type that matches by type, though retention may have removed it.
    func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position]

    /// Takes part in a durable consumer. See ``ConsumerMember/Mode``.
    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim

    /// Takes no part in a shared consumer any more: the other members get at once what it owned. An exclusive member keeps
    /// what it owns until the next one claims. It works in a task that is cancelled as well.
    func leave(consumer: String, as member: ConsumerMember) async

    /// The durable consumers whose progress the journal keeps, in alphabetical order.
    func consumers() async throws -> [DurableConsumer]

    /// Removes a durable consumer: its progress is lost, and it no longer keeps messages from being removed. Its dead letters
    /// stay. Does nothing if there is none of this name.
    /// - Throws: ``BusError``: `refused` while a process runs the consumer.
    func forget(consumer: String) async throws

    /// The messages that durable consumers gave up, oldest first.
    /// - Parameter consumer: only those of this one.
    func deadLetters(of consumer: String?) async throws -> [DeadLetter]

    /// Puts a query to one of the processes that serve its type. It is not journalled.
    /// - Returns: the one answer: a message of the query's type, or an error.
    /// - Throws: ``BusError``: `unserved` when nobody serves it or who did has gone, `deadline` when no answer came in time,
    ///   `cancelled` when whoever served it stopped.
    func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope

    /// Answers queries of these types until the task is cancelled, several at a time.
    /// - Parameters:
    ///   - whenServing: called once queries arrive.
    ///   - answer: gives the one answer. If it throws, the asker gets a ``BusError`` with code `cancelled`.
    func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws

    /// Drives the bus until the task is cancelled.
    func run() async throws
}

extension EventBus {
    /// How long a command from a view is worth acting upon, unless said.
    public static var commandLifetime: Duration { Attributes.usualLifetime }

    /// Sends a command. One that comes from a view, as its origin or its cause tells, expires after ``commandLifetime``: a
    /// consumer that finds it later discards it, visibly. Any other does not expire.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        try await send(command, subject, origin, cause) { $0.expireAsUsual() }
    }

    /// Sends a command that expires after `lifetime`; nil for never.
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

    /// Wraps a message that another one led to, as ``Envelope/init(_:source:causedBy:origin:id:)`` does.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        try Envelope(message, source: source, causedBy: cause.attributes)
    }

    /// Publishes one message.
    @discardableResult
    public func publish(
        _ message: some Message, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        var envelope = try Envelope(message, source: source, subject: subject, origin: origin, causedBy: cause)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
    }

    /// The retained document of this type, subject and key; nil if there is none.
    public func document<D: DocumentMessage>(
        _ type: D.Type, subject: String = Session.default, key: String? = nil
    ) async throws -> D? {
        try await document(type.type, subject: subject, key: key)?.decode(D.self)
    }
}

extension EventBus {
    /// Subscribes for as long as `body` runs, with no end of its own.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, from: start, until: nil, onNotice: nil, body)
    }
}

extension EventBus {
    /// Subscribes to what a claim covers, for a reader that publishes the checkpoint of a message before it asks for the next
    /// one.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, under: claim, progress: nil, body)
    }

    public var taskExecutor: (any SerialExecutor & TaskExecutor)? { nil }

    public func waitUntilConnected(timeout: Duration) async throws {}
}

extension EventBus {
    /// Takes a durable consumer over from whoever had it.
    public func claim(consumer: String) async throws -> ConsumerClaim {
        try await claim(consumer: consumer, as: .exclusive)
    }

    /// Runs `body` with a new member of a durable consumer, which leaves when `body` ends: its process may live on, and others
    /// would wait for a share that nobody handles.
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

    /// Asks whether a claim still holds whose messages have ended: whether that was another process's doing or a new
    /// journal's, only the broker knows.
    /// - Throws: ``BusError``: `fenced` or `epoch`.
    package func confirm(_ claim: ConsumerClaim) async throws {
        try await publish(Batch([], checkpoint: Checkpoint(claim: claim, position: claim.position)))
    }
}

extension EventBus {
    /// Puts a query and reads its answer.
    /// - Parameters:
    ///   - timeout: how long to wait for it.
    ///   - failure: what is thrown for an answer that is an error; a ``BusError`` with code `refused` unless said.
    /// - Throws: ``BusError`` as ``ask(_:timeout:)``, or `malformed` when the answer is not what the query promises.
    public func ask<Query: QueryMessage>(
        _ query: Query, subject: String = Session.default, timeout: Duration = .seconds(5),
        failure: (Envelope) -> any Error = { BusError(.refused, "the answer is \($0.type)") }
    ) async throws -> Query.Answer {
        let answer = try await ask(Envelope(query, source: source, subject: subject), timeout: timeout)
        if answer.type.kind == .error { throw failure(answer) }
        return try answer.decodeData(as: Query.Answer.self)
    }
}

extension EventBus {
    /// Drives the bus for as long as `body` runs, then closes it in order: what was published is out.
    /// - Throws: what `body` or ``run()`` throws, whichever is first.
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
                // Only cancelled does the bus say good-bye and close.
                group.cancelAll()
                try await group.waitForAll()
                return result
            }
            throw BusError(.closed, "the bus ended first")
        }
    }
}
