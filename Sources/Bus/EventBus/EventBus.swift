/// A publish-subscribe bus with a journal, as a process uses it: it publishes, subscribes, reads documents, and asks
/// and answers queries. Durable consumers are in the module `Consuming`.
///
/// An engine does the work: ``inMemory(source:hub:)``, `zeroMQ`, which uses a broker, or `nats`, which uses servers of
/// NATS. Copies of a bus are the same bus. Keep a call of ``run()`` running for as long as the bus is used.
public struct EventBus: Sendable {
    /// The engine. Only durable consumers and the tests of engines call it directly.
    package let engine: any EventBusEngine

    package init(_ engine: any EventBusEngine) {
        self.engine = engine
    }

    /// The CloudEvents source of the messages that this process publishes: `name/instance`.
    public var source: String { engine.source }

    /// See ``MessagingEngine/taskExecutor``.
    package var taskExecutor: (any SerialExecutor & TaskExecutor)? { engine.taskExecutor }

    /// The state of the bus, for tools.
    public var inspect: BusInspection { BusInspection(engine) }

    // MARK: Opening

    /// Runs the bus until the task is cancelled. May be called once.
    /// - Throws: ``BusError``: `closed` if it was called before, `address` or `refused` if the servers cannot be used.
    public func run() async throws { try await engine.run() }

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

    /// Waits until the bus can be used. Returns at once if the bus needs no connection.
    /// - Throws: ``BusError`` with code `unavailable` if no broker answers within `timeout`.
    public func waitUntilConnected(timeout: Duration) async throws {
        try await engine.waitUntilConnected(timeout: timeout)
    }

    // MARK: Publishing

    /// The time after which a command from a view expires by default: 60 s.
    public static var commandLifetime: Duration { Attributes.usualLifetime }

    /// Sends a command. A command from a view, that is one whose origin or cause has a device, expires after
    /// ``commandLifetime``. Other commands do not expire.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        try await send(command, subject: subject, origin: origin, causedBy: cause) { $0.expireAsUsual() }
    }

    /// Sends a command that expires after `lifetime`, or never if `lifetime` is nil.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil, lifetime: Duration?
    ) async throws -> Envelope {
        try await send(command, subject: subject, origin: origin, causedBy: cause) { $0.expire(after: lifetime) }
    }

    private func send(
        _ command: some CommandMessage, subject: String, origin: Origin, causedBy cause: Envelope?,
        expire: (inout Attributes) -> Void
    ) async throws -> Envelope {
        var envelope = try Envelope(command, source: source, subject: subject, origin: origin, causedBy: cause)
        expire(&envelope.attributes)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
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

    /// Publishes a batch, either the whole batch or nothing. Returns when the journal has recorded the batch.
    /// - Returns: A position up to which the journal contains the whole batch: that of its last message; the other
    ///   messages have the positions directly before it. The offsets of two batches need not follow each other. For a
    ///   batch without messages, the end of the journal.
    /// - Throws: ``BusError``: `refused` if the batch or a message is invalid, `closed` if the bus is closed, `journal`
    ///   if the journal cannot be written now.
    @discardableResult
    public func publish(_ batch: Batch) async throws -> Position { try await engine.publish(batch) }

    /// Sends messages to the current subscribers only. They are not recorded in the journal, have no position, and may
    /// be lost. Returns when the broker has received them, or, on NATS, when they are on their way.
    /// - Throws: ``BusError``: `refused` if a message is a document or a query, or too large, `closed` if the bus is
    ///   closed.
    public func publishTransient(_ messages: [Envelope]) async throws {
        try await engine.publishTransient(messages)
    }

    /// The maximum size of a batch in bytes: 8 MiB, or less if the servers of the bus accept less. Waits until the
    /// limit is known. ``publish(_:)`` refuses a larger batch, with the limit in the error.
    ///
    /// Each message counts with its data, its attributes as JSON, and its type, subject and key.
    /// - Throws: ``BusError``: `closed` if the bus is closed, `address` if its servers cannot be used.
    public func maximumBatchSize() async throws -> Int { try await engine.maximumBatchSize() }

    /// Wraps a message that another message caused, as ``Envelope/init(_:source:causedBy:origin:id:)`` does.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        try Envelope(message, source: source, causedBy: cause.attributes)
    }

    // MARK: Subscribing

    /// Subscribes for as long as `body` runs. The subscription is live before `body` begins.
    /// - Parameters:
    ///   - end: The messages end when every matching message up to this position has been delivered. Nil for no end.
    ///   - onNotice: Called when the feed dropped messages, or retention removed them before they were read. It must
    ///     not block.
    /// - Throws: ``BusError``: `epoch` if `start` or `end` belongs to another journal, or `start` is beyond the end of
    ///   this one.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position? = nil,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)? = nil,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await engine.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }

    // MARK: Documents

    /// The retained documents that match any of the filters, in the order in which they were published. Documents with
    /// an unreadable header are left out.
    /// - Parameters:
    ///   - offset: Only documents that were published after this offset are returned.
    ///   - limit: The maximum number of documents.
    public func documents(
        matching filters: [MessageFilter], after offset: UInt64 = 0, limit: Int = .max
    ) async throws -> [Envelope] {
        try await engine.documents(matching: filters, after: offset, limit: limit)
    }

    /// The retained document of this type, subject and key; nil if there is none, or if its header cannot be read.
    public func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        try await engine.document(type, subject: subject, key: key)
    }

    /// The retained document of this type, subject and key; nil if there is none, or if its header cannot be read.
    /// - Throws: ``BusError`` with code `malformed` if the document's data does not match its type.
    public func document<D: DocumentMessage>(
        _ type: D.Type, subject: String = Session.default, key: String? = nil
    ) async throws -> D? {
        try await document(type.type, subject: subject, key: key)?.decode(D.self)
    }

    // MARK: Queries

    /// Sends a query and decodes its answer.
    /// - Parameters:
    ///   - timeout: The maximum time to wait for the answer.
    ///   - failure: Makes the error to throw if the answer is an error message.
    /// - Throws: The same as ``ask(_:timeout:)``, or ``BusError`` with code `malformed` if the data of the answer
    ///   cannot be decoded.
    public func ask<Query: QueryMessage>(
        _ query: Query, subject: String = Session.default, timeout: Duration = .seconds(5),
        failure: (Envelope) -> any Error
    ) async throws -> Query.Answer {
        let answer = try await ask(Envelope(query, source: source, subject: subject), timeout: timeout)
        if answer.type.kind == .error { throw failure(answer) }
        return try answer.decodeData(as: Query.Answer.self)
    }

    /// Sends a query to one of the processes that serve its type. The query is not recorded in the journal.
    /// - Returns: The answer: a message of the query's type, or an error message.
    /// - Throws: ``BusError``: `unserved` if no process serves the query or the process that served it has ended,
    ///   `deadline` if no answer came within `timeout`, `cancelled` if the serving process stopped or failed to answer.
    public func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        try await engine.ask(query, timeout: timeout)
    }

    /// Answers queries of these types, several at a time, until the task is cancelled or the bus is closed.
    /// - Parameters:
    ///   - whenServing: Called once, when queries can arrive.
    ///   - answer: Returns the answer to a query. If it throws, the asker gets a ``BusError`` with code `cancelled`.
    public func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        try await engine.serve(types, whenServing: whenServing, answer)
    }
}
