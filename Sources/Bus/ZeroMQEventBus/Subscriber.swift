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
    private var buffer: Deque<FeedMessage> = []
    private var reader: CheckedContinuation<FeedMessage?, any Error>?
    private var hasEnded = false

    init(tracker: FeedTracker, prefixes: [String], claim: ConsumerClaim?) {
        self.tracker = tracker
        self.prefixes = prefixes
        self.claim = claim
    }

    var hasRoom: Bool { buffer.count < Self.capacity }

    /// What to read next; nil while live, while a page is on its way or while the reader has enough.
    var nextRead: FeedTracker.Phase? {
        tracker.phase != .live && !isReading && !isRefused && buffer.count < Self.capacity / 2 ? tracker.phase : nil
    }

    func receive(live message: FeedMessage) {
        if tracker.receive(live: message, hasRoom: hasRoom) {
            deliver([message])
        }
    }

    func receive(_ page: Page) {
        deliver(tracker.receive(page))
    }

    /// A message that is here already.
    func takeBuffered() -> FeedMessage? {
        hasEnded ? nil : buffer.popFirst()
    }

    /// Takes a message, or has `reader` resumed with the next one.
    func next(_ reader: CheckedContinuation<FeedMessage?, any Error>) {
        if hasEnded {
            reader.resume(returning: nil)
        } else if let message = buffer.popFirst() {
            reader.resume(returning: message)
        } else {
            self.reader = reader
        }
    }

    /// Ends the messages: the claim no longer says what its member owns.
    func finish() {
        hasEnded = true
        reader?.resume(returning: nil)
        reader = nil
    }

    /// Ends the wait of a reader.
    func end(throwing error: any Error) {
        reader?.resume(throwing: error)
        reader = nil
    }

    private func deliver(_ messages: [FeedMessage]) {
        buffer.append(contentsOf: messages)
        if let reader, let message = buffer.popFirst() {
            self.reader = nil
            reader.resume(returning: message)
        }
    }
}
