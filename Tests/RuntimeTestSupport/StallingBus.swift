package import EventBus
import Synchronization
package import TestSupport

/// A bus whose broker goes away: what is published then waits for it.
package final class StallingBus: ForwardingBus {
    package let bus: any EventBus
    private let isStalled = Mutex(false)
    /// Open once a batch waits.
    package let stalled = Gate()

    package init(bus: any EventBus) {
        self.bus = bus
    }

    package func stall() {
        isStalled.withLock { $0 = true }
    }

    package func publish(_ batch: Batch) async throws -> Position {
        if isStalled.withLock(\.self) {
            stalled.open()
            try await Gate().pass()
        }
        return try await bus.publish(batch)
    }
}
