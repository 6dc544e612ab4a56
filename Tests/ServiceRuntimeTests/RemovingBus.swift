import EventBus
import RuntimeTestSupport

/// A bus whose retention has removed each message by the time that it is given up.
struct RemovingBus: ForwardingBus {
    let bus: any EventBus

    func publish(_ batch: Batch) async throws -> Position {
        guard batch.rejection == nil else {
            throw BusError(.letter, "the message is no longer in the journal")
        }
        return try await bus.publish(batch)
    }
}
