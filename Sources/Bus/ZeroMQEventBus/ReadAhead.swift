internal import BusProtocol
internal import DequeModule
internal import Synchronization

/// Messages that a reader has taken from its subscriber in one go, so that it changes threads once for many of them.
final class ReadAhead: Sendable {
    static let capacity = 256

    private let messages = Mutex<Deque<FeedMessage>>([])

    func pop() -> FeedMessage? {
        messages.withLock { $0.popFirst() }
    }

    func fill(_ more: [FeedMessage]) {
        messages.withLock { $0.append(contentsOf: more) }
    }
}
