import EventBus
import RuntimeTestSupport
import Synchronization

/// A bus whose retention has removed the messages up to an offset. It counts those that are read.
final class PrunedBus: ForwardingBus {
    let bus: any EventBus
    private let removed: UInt64
    private let count = Mutex(0)

    init(_ bus: any EventBus, removedThrough removed: UInt64 = 0) {
        self.bus = bus
        self.removed = removed
    }

    var readCount: Int { count.withLock(\.self) }

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(to: filters, from: start, until: end, onNotice: onNotice) { messages in
            try await body(
                MessageSequence { [self] in
                    var iterator = messages.makeAsyncIterator()
                    while let message = try await iterator.next() {
                        guard message.position?.offset ?? .max > removed else { continue }
                        count.withLock { $0 += 1 }
                        return message
                    }
                    return nil
                })
        }
    }
}
