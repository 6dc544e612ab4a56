import EventBus
import RuntimeTestSupport

/// A bus that refuses every batch with a message of one session.
struct RefusingBus: ForwardingBus {
    let bus: any EventBus
    let session: String

    init(bus: any EventBus, refusing session: String) {
        self.bus = bus
        self.session = session
    }

    func publish(_ batch: Batch) async throws -> Position {
        if batch.messages.contains(where: { $0.subject == session }) { throw BusError(.refused, "it is too large") }
        return try await bus.publish(batch)
    }
}
