internal import BusProtocol
internal import DequeModule

/// One subscription: its tracker, and the messages that its reader has not taken yet. It belongs to the bus's thread.
final class Subscriber {
    /// Beyond this the reader is slow, and what follows waits in the journal.
    static let capacity = 1024

    var tracker: FeedTracker
    let prefixes: [String]
    /// Whether a page has been asked for.
    var isReading = false
    /// Whether the broker refused a page; the next tick asks again.
    var isRefused = false
    private var buffer: Deque<FeedMessage> = []
    private var reader: CheckedContinuation<FeedMessage?, any Error>?

    init(tracker: FeedTracker, prefixes: [String]) {
        self.tracker = tracker
        self.prefixes = prefixes
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

    /// Takes a message, or has `reader` resumed with the next one.
    func next(_ reader: CheckedContinuation<FeedMessage?, any Error>) {
        if let message = buffer.popFirst() {
            reader.resume(returning: message)
        } else {
            self.reader = reader
        }
    }

    /// Ends the wait of a reader.
    func end(throwing error: (any Error)?) {
        if let error {
            reader?.resume(throwing: error)
        } else {
            reader?.resume(returning: nil)
        }
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
