package import EventBus
internal import Synchronization

/// A bus whose broker is away for the first calls.
package final class UnreliableBus: EventBus {
    private let bus: any EventBus
    private let failuresLeft: Mutex<Int>

    package init(_ bus: any EventBus, failures: Int) {
        self.bus = bus
        failuresLeft = Mutex(failures)
    }

    package var source: String { bus.source }

    package func publish(_ batch: Batch) async throws -> Position {
        try failPerhaps()
        return try await bus.publish(batch)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try failPerhaps()
        return try await bus.withSubscription(to: filters, from: start, body)
    }

    package func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        try failPerhaps()
        return try await bus.documents(matching: filters)
    }

    package func claim(consumer: String) async throws -> ConsumerClaim {
        try failPerhaps()
        return try await bus.claim(consumer: consumer)
    }

    package func run() async throws {
        try await bus.run()
    }

    private func failPerhaps() throws {
        try failuresLeft.withLock { left in
            guard left > 0 else { return }
            left -= 1
            throw BusError(.unavailable, "nobody answers")
        }
    }
}
