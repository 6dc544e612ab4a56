internal import BusProtocol
internal import DequeModule
internal import EventBus
internal import Synchronization

/// One subscription: its tracker, and the messages that its reader has not taken yet. It belongs to the bus's thread.
final class Subscriber {
    /// Beyond this the reader is slow, and what follows waits in the journal.
    static let capacity = 1024
    /// The same in bytes: a page may bring a message of 4 MiB.
    static let capacitySize = 8 * 1024 * 1024

    var tracker: FeedTracker
    let prefixes: [String]
    /// What the reader consumes under; nil for an ordinary subscription.
    let claim: ConsumerClaim?
    /// What the reader has taken and not finished; nil if it finishes each message before it asks for the next.
    private let progress: ConsumerProgress?
    /// The journal's end up to which it has been asked what was published.
    var polledThrough: UInt64
    /// Whether a page has been asked for.
    var isReading = false
    /// Whether the broker refused a page; the next tick asks again.
    var isRefused = false
    /// Whether the broker has been asked if the claim still holds.
    var isRenewing = false
    /// Up to where the broker has been told that everything is handled, whether or not there was a message.
    var recorded: UInt64
    private var buffer: Deque<FeedTracker.Delivery> = []
    private var bufferSize = 0
    private var reader: Reader?
    private var hasEnded = false
    /// Why they have ended, if that is not what the reader asked for.
    private var failure: BusError?
    /// Behind this offset nothing is given; nil for no end.
    private let end: UInt64?
    private let onNotice: (@Sendable (SubscriptionNotice) -> Void)?

    /// Who waits for the next messages. Each wait has a number: a cancellation that comes late must not end the next one.
    private struct Reader {
        let wait: Int
        let continuation: CheckedContinuation<[FeedTracker.Delivery], any Error>
    }

    /// - Parameter head: the journal's end when the subscription became live.
    init(
        tracker: FeedTracker, prefixes: [String], claim: ConsumerClaim?, progress: ConsumerProgress? = nil,
        head: UInt64, end: UInt64? = nil,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)? = nil
    ) {
        self.tracker = tracker
        self.prefixes = prefixes
        self.claim = claim
        self.progress = progress
        polledThrough = head
        self.end = end
        self.onNotice = onNotice
        recorded = claim?.position.offset ?? 0
    }

    /// The offset up to which everything is handled; nil unless the reader waits. A reader that waits has taken all that came,
    /// and has noted in its progress what it has not finished.
    var settled: UInt64? {
        guard reader != nil else { return nil }
        return progress.map { $0.settled(delivered: tracker.base) } ?? tracker.base
    }

    /// What to read next; nil while live, while a page is on its way or while the reader has enough.
    var nextRead: FeedTracker.Phase? {
        let hasEnough = buffer.count >= Self.capacity / 2 || bufferSize >= Self.capacitySize / 2
        return tracker.phase == .live || isReading || isRefused || hasEnough || isAtEnd || hasEnded
            ? nil : tracker.phase
    }

    /// Whether all that the reader is to have has come.
    private var isAtEnd: Bool {
        guard let end, tracker.base >= end else { return false }
        if case .documents = tracker.phase { return false }
        return true
    }

    /// - Parameter messages: of one topic.
    func receive(live messages: [FeedMessage]) {
        let room = bufferSize < Self.capacitySize ? Self.capacity - buffer.count : 0
        deliver(tracker.receive(live: messages, room: room))
    }

    func receive(_ page: Page) {
        deliver(tracker.receive(page))
        for notice in tracker.takeNotices() { onNotice?(notice) }
    }

    /// Looks whether what had been journalled has come.
    /// - Returns: whether something is missing that the feed had time to bring.
    @discardableResult
    func judge() -> Bool {
        defer { deliver([]) }
        return tracker.judge()
    }

    /// The next messages that are here already.
    func takeBuffered() -> [FeedTracker.Delivery] {
        guard !hasEnded else { return [] }
        let messages = Array(buffer.prefix(MessageReader.capacity))
        buffer.removeFirst(messages.count)
        bufferSize -= Self.size(of: messages)
        return messages
    }

    /// Has a reader resumed with the next messages; with none at the end.
    func next(_ continuation: CheckedContinuation<[FeedTracker.Delivery], any Error>, wait: Int) {
        if let failure { return continuation.resume(throwing: failure) }
        let messages = takeBuffered()
        if !messages.isEmpty || hasEnded || isAtEnd {
            continuation.resume(returning: messages)
        } else {
            reader = Reader(wait: wait, continuation: continuation)
        }
    }

    /// Begins anew in another epoch. An end in the one before will never come: who waits for it must not take what it has for
    /// everything.
    /// - Parameter offset: where the epoch began.
    func restart(from offset: UInt64 = 0) {
        guard end == nil else {
            let failure = BusError(.epoch, "the journal was replaced before the messages had ended")
            (hasEnded, self.failure) = (true, failure)
            return end(throwing: failure)
        }
        tracker.restart(from: offset)
        polledThrough = 0
        isReading = false
    }

    /// Goes back to the end of a journal that has lost what came after it.
    func takeBack(to head: UInt64) {
        tracker.takeBack(to: head)
        polledThrough = min(polledThrough, head)
        isReading = false
    }

    /// Ends the messages: the claim no longer says what its member owns.
    func finish() {
        hasEnded = true
        reader?.continuation.resume(returning: [])
        reader = nil
    }

    /// Ends the wait of a reader.
    func end(throwing error: any Error) {
        reader?.continuation.resume(throwing: error)
        reader = nil
    }

    func cancel(wait: Int) {
        if reader?.wait == wait { end(throwing: CancellationError()) }
    }

    private func deliver(_ messages: [FeedTracker.Delivery]) {
        let messages = end.map { end in messages.filter { $0.message.offset <= end } } ?? messages
        buffer.append(contentsOf: messages)
        bufferSize += Self.size(of: messages)
        guard let reader, !buffer.isEmpty || isAtEnd else { return }
        self.reader = nil
        reader.continuation.resume(returning: takeBuffered())
    }

    private static func size(of messages: [FeedTracker.Delivery]) -> Int {
        messages.reduce(0) { $0 + $1.message.header.count + $1.message.data.count }
    }
}

/// A subscription that the broker has not confirmed.
struct PendingSubscription {
    let prefixes: [String]
    let start: FeedTracker.Start
    /// Behind this the messages end; nil for never.
    let end: Position?
    let claim: ConsumerClaim?
    let progress: ConsumerProgress?
    let onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    let continuation: CheckedContinuation<Int, any Error>
}

/// Reads one subscription: takes many messages from its subscriber in one go, so that threads are changed once for them all.
final class MessageReader: Sendable {
    /// Messages that are taken at once.
    static let capacity = 256

    private let bus: ZeroMQEventBus
    private let id: Int
    private let skipped: SkippedMessages
    private let isWanted: @Sendable (Envelope) -> Bool
    private let ahead = Mutex<Deque<FeedTracker.Delivery>>([])

    init(
        bus: ZeroMQEventBus, id: Int, skipped: SkippedMessages, isWanted: @escaping @Sendable (Envelope) -> Bool
    ) {
        self.bus = bus
        self.id = id
        self.skipped = skipped
        self.isWanted = isWanted
    }

    /// The next message; nil at the end. A method and no closure: it runs where its caller runs, and the compiler sees it.
    func next() async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            guard let delivery = ahead.withLock({ $0.popFirst() }) else {
                let more = try await bus.next(id)
                guard !more.isEmpty else { return nil }
                ahead.withLock { $0.append(contentsOf: more) }
                continue
            }
            do {
                let envelope = try delivery.message.envelope(settled: delivery.settled)
                if isWanted(envelope) { return envelope }
            } catch let error as BusError {
                skipped.note(error.message)
            }
        }
    }
}
