internal import BusFormat
internal import BusProtocol
internal import DequeModule
internal import EventBus
internal import Synchronization

/// Reads one subscription. It dequeues many messages at once.
final class MessageReader: Sendable {
    private let bus: ZeroMQEventBus
    private let id: UInt64
    private let skipped: SkippedMessages
    private let isWanted: @Sendable (Envelope) -> Bool
    private let ahead = Mutex<Deque<FeedTracker.Delivery>>([])

    init(
        bus: ZeroMQEventBus, id: UInt64, skipped: SkippedMessages, isWanted: @escaping @Sendable (Envelope) -> Bool
    ) {
        self.bus = bus
        self.id = id
        self.skipped = skipped
        self.isWanted = isWanted
    }

    /// Returns the next message; nil at the end.
    func next() async throws -> Delivery? {
        while true {
            try Task.checkCancellation()
            guard let delivery = ahead.withLock({ $0.popFirst() }) else {
                let more = try await bus.next(id)
                guard !more.isEmpty else { return nil }
                ahead.withLock { $0.append(contentsOf: more) }
                continue
            }
            do {
                let envelope = try delivery.message.envelope()
                if isWanted(envelope) { return Delivery(envelope, lowWatermark: delivery.settled) }
            } catch let error as BusError {
                skipped.record(error.message)
            }
        }
    }
}
