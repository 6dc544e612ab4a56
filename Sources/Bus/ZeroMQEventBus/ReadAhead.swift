internal import DequeModule
internal import Synchronization

/// Messages that a reader has taken from its subscriber in one go, so that it changes threads once for many of them.
final class ReadAhead: Sendable {
    static let capacity = 256

    private let messages = Mutex<Deque<FeedTracker.Delivery>>([])

    func pop() -> FeedTracker.Delivery? {
        messages.withLock { $0.popFirst() }
    }

    func fill(_ more: [FeedTracker.Delivery]) {
        messages.withLock { $0.append(contentsOf: more) }
    }
}
