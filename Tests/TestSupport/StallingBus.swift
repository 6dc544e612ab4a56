package import EventBus
package import Support
import Synchronization

/// A bus whose broker becomes unavailable with ``stall()``. Later batches are never published.
package final class StallingBus: ForwardingEngine {
    package let inner: EventBus
    private let isStalled = Mutex(false)
    /// Opened when a batch waits for the broker.
    package let stalled = Latch()

    package init(bus: EventBus) {
        inner = bus
    }

    package func stall() {
        isStalled.withLock { $0 = true }
    }

    package func publish(_ batch: Batch) async throws -> Position {
        if isStalled.withLock(\.self) {
            stalled.open()
            try await Latch().waitUntilOpen()
        }
        return try await inner.publish(batch)
    }
}
