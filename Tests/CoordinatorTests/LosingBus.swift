import EventBus
import RuntimeTestSupport
import Synchronization

/// A bus on which a process dies with the first batch that holds a message of some type: nothing of it is journalled.
final class LosingBus: ForwardingBus {
    let bus: any EventBus
    private let type: MessageType
    private let messages = Mutex<[Envelope]>([])

    init(_ bus: any EventBus, losing type: MessageType) {
        self.bus = bus
        self.type = type
    }

    var lost: [Envelope] { messages.withLock(\.self) }

    func publish(_ batch: Batch) async throws -> Position {
        guard batch.messages.contains(where: { $0.type == type }) else { return try await bus.publish(batch) }
        messages.withLock { $0 = batch.messages }
        throw BusError(.fenced, "the process is dead")
    }
}
