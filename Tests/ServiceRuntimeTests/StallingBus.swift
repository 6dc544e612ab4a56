import EventBus
import RuntimeTestSupport
import Synchronization

/// A bus whose broker goes away: what is published then waits for it.
final class StallingBus: ForwardingBus {
    let bus: any EventBus
    private let isStalled = Mutex(false)
    /// Open once a batch waits.
    let stalled = Gate()

    init(bus: any EventBus) {
        self.bus = bus
    }

    func stall() {
        isStalled.withLock { $0 = true }
    }

    func publish(_ batch: Batch) async throws -> Position {
        if isStalled.withLock(\.self) {
            stalled.open()
            try await Gate().pass()
        }
        return try await bus.publish(batch)
    }
}
