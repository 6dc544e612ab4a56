internal import DequeModule
internal import EventBus

/// The newest transient messages. The journal does not have them, so the page reads their data from here.
struct RecentTransients: Sendable {
    /// The maximum number of messages.
    static let countLimit = 1000
    /// The maximum size of their data in bytes.
    static let sizeLimit = 4 << 20

    private var messages: Deque<Envelope> = []
    private var size = 0

    mutating func append(_ message: Envelope) {
        messages.append(message)
        size += message.data.count
        while size > Self.sizeLimit || messages.count > Self.countLimit, let first = messages.popFirst() {
            size -= first.data.count
        }
    }

    /// The message with this id. Nil if it is not among the newest.
    subscript(id: String) -> Envelope? { messages.last { $0.id == id } }
}
