package import EventBus
internal import TestSupport

extension EventBus {
    /// See ``ClaimingEngine/claim(consumer:as:)``.
    package func claim(consumer: String, as member: ConsumerMember = .exclusive) async throws -> ConsumerClaim {
        try await engine.claim(consumer: consumer, as: member)
    }

    /// See ``ClaimingEngine/leave(consumer:as:)``.
    package func leave(consumer: String, as member: ConsumerMember) async {
        await engine.leave(consumer: consumer, as: member)
    }

    /// Subscribes under a claim. The reader publishes the checkpoint of a message before it asks for the next one, or
    /// updates `progress`.
    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress? = nil,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await engine.withSubscription(to: filters, under: claim, progress: progress, body)
    }
}

/// Calls that tests of an engine make in the same way as on a bus.
extension EventBusEngine {
    @discardableResult
    package func publish(
        _ message: some PublishableMessage, subject: String = Session.default
    ) async throws -> Envelope {
        try await bus.publish(message, subject: subject)
    }

    @discardableResult
    package func send(_ command: some CommandMessage, subject: String = Session.default) async throws -> Envelope {
        try await bus.send(command, subject: subject)
    }

    package func whileOpen<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await bus.whileOpen(body)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, from: start, until: nil, onNotice: nil, body)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, under: claim, progress: nil, body)
    }

    package func claim(consumer: String) async throws -> ConsumerClaim {
        try await claim(consumer: consumer, as: .exclusive)
    }

    package func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        try await bus.documents(matching: filters)
    }
}
