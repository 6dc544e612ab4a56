internal import BusProtocol
internal import DequeModule
internal import EventBus

/// One subscription: its tracker, and the messages that its reader has not taken yet. It belongs to the bus's thread.
final class Subscriber {
    /// Beyond this the reader is slow, and what follows waits in the journal.
    static let capacity = 1024

    var tracker: FeedTracker
    let prefixes: [String]
    /// What the reader consumes under; nil for an ordinary subscription.
    let claim: ConsumerClaim?
    /// Whether a page has been asked for.
    var isReading = false
    /// Whether the broker refused a page; the next tick asks again.
    var isRefused = false
    /// Whether the broker has been asked if the claim still holds.
    var isRenewing = false
    /// Up to where the broker has been told that everything is handled, whether or not there was a message.
    var recorded: UInt64
    private var buffer: Deque<FeedTracker.Delivery> = []
    private var reader: CheckedContinuation<[FeedTracker.Delivery], any Error>?
    private var hasEnded = false

    init(tracker: FeedTracker, prefixes: [String], claim: ConsumerClaim?) {
        self.tracker = tracker
        self.prefixes = prefixes
        self.claim = claim
        recorded = claim?.position.offset ?? 0
    }

    /// Up to where there is nothing left to handle: who waits for the next message has handled those before it. Nil while the
    /// reader has something at hand.
    var settled: UInt64? { reader == nil ? nil : tracker.base }

    /// What to read next; nil while live, while a page is on its way or while the reader has enough.
    var nextRead: FeedTracker.Phase? {
        tracker.phase != .live && !isReading && !isRefused && buffer.count < Self.capacity / 2 ? tracker.phase : nil
    }

    /// - Parameter messages: of one topic.
    func receive(live messages: [FeedMessage]) {
        deliver(tracker.receive(live: messages, room: Self.capacity - buffer.count))
    }

    func receive(_ page: Page) {
        deliver(tracker.receive(page))
    }

    /// The next messages that are here already.
    func takeBuffered() -> [FeedTracker.Delivery] {
        guard !hasEnded else { return [] }
        let messages = Array(buffer.prefix(ReadAhead.capacity))
        buffer.removeFirst(messages.count)
        return messages
    }

    /// Has `reader` resumed with the next messages; with none at the end.
    func next(_ reader: CheckedContinuation<[FeedTracker.Delivery], any Error>) {
        let messages = takeBuffered()
        if !messages.isEmpty || hasEnded {
            reader.resume(returning: messages)
        } else {
            self.reader = reader
        }
    }

    /// Ends the messages: the claim no longer says what its member owns.
    func finish() {
        hasEnded = true
        reader?.resume(returning: [])
        reader = nil
    }

    /// Ends the wait of a reader.
    func end(throwing error: any Error) {
        reader?.resume(throwing: error)
        reader = nil
    }

    private func deliver(_ messages: [FeedTracker.Delivery]) {
        buffer.append(contentsOf: messages)
        guard let reader, !buffer.isEmpty else { return }
        self.reader = nil
        reader.resume(returning: takeBuffered())
    }
}
