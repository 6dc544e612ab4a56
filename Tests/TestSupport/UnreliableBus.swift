package import EventBus
internal import Synchronization

/// A bus on which the next claims and batches fail. A test sets the number of failures.
package final class UnreliableBus: ForwardingEngine {
    package let inner: EventBus
    private let failuresLeft: Mutex<Int>
    private let code: BusError.Code

    /// - Parameter code: the code of the errors.
    package init(_ bus: EventBus, failures: Int = 0, code: BusError.Code = .unavailable) {
        inner = bus
        self.code = code
        failuresLeft = Mutex(failures)
    }

    package func publish(_ batch: Batch) async throws -> Position {
        try failPerhaps()
        return try await inner.publish(batch)
    }

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try failPerhaps()
        return try await inner.engine.claim(consumer: consumer, as: member)
    }

    package func fail(_ count: Int) {
        failuresLeft.withLock { $0 = count }
    }

    private func failPerhaps() throws {
        try failuresLeft.withLock { left in
            guard left > 0 else { return }
            left -= 1
            throw BusError(code, "it does not serve")
        }
    }
}
