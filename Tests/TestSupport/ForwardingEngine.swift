package import EventBus

/// An engine that passes every call on to another bus. A test implements only the calls that it changes, and uses the
/// engine as a ``EventBus`` with `bus`.
package protocol ForwardingEngine: EventBusEngine {
    var inner: EventBus { get }
}

extension ForwardingEngine {
    package var source: String { inner.engine.source }

    package var taskExecutor: (any SerialExecutor & TaskExecutor)? { inner.engine.taskExecutor }

    package func waitUntilConnected(timeout: Duration) async throws {
        try await inner.engine.waitUntilConnected(timeout: timeout)
    }

    package func maximumBatchSize() async throws -> Int { try await inner.engine.maximumBatchSize() }

    package func publish(_ batch: Batch) async throws -> Position {
        try await inner.engine.publish(batch)
    }

    package func publishTransient(_ messages: [Envelope]) async throws {
        try await inner.engine.publishTransient(messages)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await inner.engine.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await inner.engine.withSubscription(to: filters, under: claim, progress: progress, body)
    }

    package func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        try await inner.engine.documents(matching: filters, after: offset, limit: limit)
    }

    package func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        try await inner.engine.document(type, subject: subject, key: key)
    }

    package func end() async throws -> Position { try await inner.engine.end() }

    package func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        try await inner.engine.newestOfEachType(matching: filters)
    }

    package func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        try await inner.engine.lag(after: position, matching: filters)
    }

    package func position(_ position: Position, offsetBy distance: Int) async throws -> Position {
        try await inner.engine.position(position, offsetBy: distance)
    }

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try await inner.engine.claim(consumer: consumer, as: member)
    }

    package func leave(consumer: String, as member: ConsumerMember) async {
        await inner.engine.leave(consumer: consumer, as: member)
    }

    package func consumers() async throws -> [DurableConsumer] {
        try await inner.engine.consumers()
    }

    package func forget(consumer: String) async throws {
        try await inner.engine.forget(consumer: consumer)
    }

    package func deadLetters(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        try await inner.engine.deadLetters(of: consumer, after: id, limit: limit)
    }

    package func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        try await inner.engine.deadLetterSummaries(of: consumer, after: id, limit: limit)
    }

    package func deadLetterCount(of consumer: String?) async throws -> Int {
        try await inner.engine.deadLetterCount(of: consumer)
    }

    package func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        try await inner.engine.ask(query, timeout: timeout)
    }

    package func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        try await inner.engine.serve(types, whenServing: whenServing, answer)
    }

    package func run() async throws {
        try await inner.engine.run()
    }
}
