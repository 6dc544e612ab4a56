package import EventBus

/// A bus that forwards every call to another bus. A test implements only the calls that it changes.
package protocol ForwardingBus: EventBus {
    var bus: any EventBus { get }
}

extension ForwardingBus {
    package var source: String { bus.source }

    package var taskExecutor: (any SerialExecutor & TaskExecutor)? { bus.taskExecutor }

    package func waitUntilConnected(timeout: Duration) async throws {
        try await bus.waitUntilConnected(timeout: timeout)
    }

    package func maximumBatchSize() async throws -> Int { try await bus.maximumBatchSize() }

    package func publish(_ batch: Batch) async throws -> Position {
        try await bus.publish(batch)
    }

    package func publishTransient(_ messages: [Envelope]) async throws {
        try await bus.publishTransient(messages)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(to: filters, under: claim, progress: progress, body)
    }

    package func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        try await bus.documents(matching: filters, after: offset, limit: limit)
    }

    package func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        try await bus.document(type, subject: subject, key: key)
    }

    package func end() async throws -> Position { try await bus.end() }

    package func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        try await bus.newestOfEachType(matching: filters)
    }

    package func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        try await bus.lag(after: position, matching: filters)
    }

    package func position(_ position: Position, offsetBy distance: Int) async throws -> Position {
        try await bus.position(position, offsetBy: distance)
    }

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try await bus.claim(consumer: consumer, as: member)
    }

    package func leave(consumer: String, as member: ConsumerMember) async {
        await bus.leave(consumer: consumer, as: member)
    }

    package func consumers() async throws -> [DurableConsumer] {
        try await bus.consumers()
    }

    package func forget(consumer: String) async throws {
        try await bus.forget(consumer: consumer)
    }

    package func deadLetters(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        try await bus.deadLetters(of: consumer, after: id, limit: limit)
    }

    package func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        try await bus.deadLetterSummaries(of: consumer, after: id, limit: limit)
    }

    package func deadLetterCount(of consumer: String?) async throws -> Int {
        try await bus.deadLetterCount(of: consumer)
    }

    package func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        try await bus.ask(query, timeout: timeout)
    }

    package func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        try await bus.serve(types, whenServing: whenServing, answer)
    }

    package func run() async throws {
        try await bus.run()
    }
}
