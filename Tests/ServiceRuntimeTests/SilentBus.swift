import EventBus
import RuntimeTestSupport

/// A bus whose broker never answers a claim.
struct SilentBus: EventBus {
    let bus: any EventBus
    /// Opened by the first claim.
    let asked = Gate()

    var source: String { bus.source }

    func publish(_ batch: Batch) async throws -> Position {
        try await bus.publish(batch)
    }

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(to: filters, from: start, body)
    }

    func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        try await bus.documents(matching: filters)
    }

    func claim(consumer: String) async throws -> ConsumerClaim {
        asked.open()
        try await Gate().pass()
        throw CancellationError()
    }

    func run() async throws {
        try await bus.run()
    }
}
