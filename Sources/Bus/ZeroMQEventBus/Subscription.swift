internal import BusProtocol
internal import DequeModule
internal import EventBus

/// The state of one subscription: the received messages that its reader has not dequeued, and its claim.
///
/// ``nextRead`` is the page that it needs, and ``handOver()`` returns the messages for its reader. The owner sends the
/// requests and resumes the reader.
struct Subscription {
    /// The maximum number of buffered messages. When the buffer is full, further live messages are not accepted; the
    /// subscription reads those that are recorded from the journal later.
    static let capacity = 1024
    /// The size of the buffered messages, in bytes, at which no further live messages are accepted.
    static let capacitySize = 8 * 1024 * 1024
    /// The maximum number of messages that a reader dequeues at once.
    static let handOverCount = 256

    /// A subscription that the broker has not confirmed yet.
    struct Plan {
        var prefixes: [String]
        var start: FeedTracker.Start
        /// The position after which the messages end; `nil` for no end.
        var end: Position?
        /// The claim that the reader consumes under; `nil` for an ordinary subscription.
        var claim: ConsumerClaim?
        /// True if the subscription reports losses.
        var isWatched = false
    }

    /// The result of a reader's wait.
    enum HandOver {
        /// An empty array means the end of the subscription.
        case messages([FeedTracker.Delivery])
        case failure(BusError)
    }

    let id: UInt64
    let prefixes: [String]
    let claim: ConsumerClaim?
    private var tracker: FeedTracker
    /// The end of the journal when the broker last listed the topics that have new messages.
    private(set) var polledThrough: UInt64
    /// The last request for a page, if it is unanswered.
    private var page: UInt64?
    /// True if the broker refused a page. The next tick asks again.
    private var isRefused = false
    /// True while a renewal of the claim is unanswered.
    private var isRenewing = false
    /// The offset up to which ``progress(in:settled:)`` has reported that everything is handled; at first the position
    /// of the claim.
    private var recorded: UInt64
    private var buffer: Deque<FeedTracker.Delivery> = []
    private var bufferSize = 0
    /// The number of the reader's current wait; nil if the reader does not wait. A cancellation that comes late must
    /// not end the next wait.
    private var wait: UInt64?
    private var hasEnded = false
    /// The error for the reader; nil if the subscription has not failed.
    private var failure: BusError?
    /// The offset after which no message is delivered; `nil` for no end.
    private let end: UInt64?

    /// - Parameter head: The end of the journal when the subscription became live.
    init(_ plan: Plan, id: UInt64, head: UInt64) {
        self.id = id
        prefixes = plan.prefixes
        claim = plan.claim
        end = plan.end?.offset
        tracker = FeedTracker(prefixes: plan.prefixes, start: plan.start, head: head, isWatched: plan.isWatched)
        polledThrough = head
        recorded = plan.claim?.position.offset ?? 0
    }

    // MARK: The reader

    /// Dequeues the next buffered messages.
    mutating func dequeueBuffered() -> [FeedTracker.Delivery] {
        guard !hasEnded else { return [] }
        let messages = Array(buffer.prefix(Self.handOverCount))
        buffer.removeFirst(messages.count)
        bufferSize -= Self.size(of: messages)
        return messages
    }

    /// Begins a wait of the reader. The reader has handled all messages that it dequeued, or has recorded the oldest
    /// unfinished message in its progress.
    /// - Parameter number: Unique among the waits of the subscription.
    mutating func beginWaiting(_ number: UInt64) {
        wait = number
    }

    /// Ends a wait of the reader.
    /// - Returns: True if this wait was still the current one.
    mutating func stopWaiting(_ number: UInt64) -> Bool {
        guard wait == number else { return false }
        wait = nil
        return true
    }

    /// Ends the reader's wait if there is something to deliver, or the subscription has ended or failed. Nil if the
    /// reader does not wait, or must wait longer.
    mutating func handOver() -> HandOver? {
        guard wait != nil else { return nil }
        if let failure {
            wait = nil
            return .failure(failure)
        }
        guard !buffer.isEmpty || hasEnded || isAtEnd else { return nil }
        wait = nil
        return .messages(dequeueBuffered())
    }

    /// Ends the messages, because the claim may no longer be valid.
    mutating func finish() {
        hasEnded = true
    }

    /// Ends the messages with an error.
    mutating func fail(with error: BusError) {
        (hasEnded, failure) = (true, error)
    }

    // MARK: The feed and the journal

    /// The next page to read; nil if no page is needed, or if none may be requested now.
    var nextRead: FeedTracker.Phase? {
        let hasEnough = buffer.count >= Self.capacity / 2 || bufferSize >= Self.capacitySize / 2
        return tracker.phase == .live || page != nil || isRefused || hasEnough || isAtEnd || hasEnded
            ? nil : tracker.phase
    }

    /// Records the request that reads ``nextRead``.
    mutating func recordRead(_ id: UInt64) {
        page = id
    }

    /// Handles messages of the feed.
    /// - Parameter messages: All of one topic.
    mutating func receive(live messages: [FeedMessage]) {
        let room = bufferSize < Self.capacitySize ? Self.capacity - buffer.count : 0
        append(tracker.receive(live: messages, room: room))
    }

    /// Reads the journal at least up to an offset.
    mutating func read(through offset: UInt64) {
        tracker.recover(through: offset)
    }

    /// Handles a page of the journal.
    /// - Parameter id: The request that is answered. Only the answer to the last request counts.
    /// - Returns: The losses that the page shows.
    mutating func receive(_ page: Page, to id: UInt64) -> [SubscriptionNotice] {
        guard id == self.page else { return [] }
        self.page = nil
        append(tracker.receive(page))
        return tracker.drainNotices()
    }

    /// Handles the refusal of a page, or an answer in another epoch.
    /// - Parameter isLong: True if the page is not to be requested again before the next tick.
    mutating func refuse(_ id: UInt64, untilNextTick isLong: Bool) {
        guard id == page else { return }
        page = nil
        if isLong { isRefused = true }
    }

    /// Records the last offsets of topics. ``judge()`` compares them with the messages that have arrived.
    mutating func record(_ heads: Heads) {
        polledThrough = max(polledThrough, heads.through)
        tracker.record(heads)
    }

    /// Compares the recorded offsets with the messages that have arrived.
    /// - Returns: True if the feed has lost a message: it had time to arrive and did not.
    @discardableResult
    mutating func judge() -> Bool {
        tracker.judge()
    }

    /// Called every second. A page that was refused may be requested again.
    /// - Returns: The same as ``judge()``.
    mutating func tick() -> Bool {
        isRefused = false
        return judge()
    }

    /// Starts again in another epoch. A subscription with a claim ends. A subscription with an end position fails.
    /// - Parameter offset: The offset at which the epoch began.
    mutating func restart(from offset: UInt64) {
        if claim != nil { finish() }
        guard end == nil else {
            return fail(
                with: BusError(.epoch, "the journal was replaced or lost messages before the subscription ended"))
        }
        tracker.restart(from: offset)
        polledThrough = 0
        page = nil
    }

    /// Goes back to the end of a journal that has lost its last messages.
    mutating func rewind(to head: UInt64) {
        tracker.rewind(to: head)
        polledThrough = min(polledThrough, head)
        page = nil
    }

    private mutating func append(_ messages: [FeedTracker.Delivery]) {
        let messages = end.map { end in messages.filter { $0.message.offset <= end } } ?? messages
        buffer.append(contentsOf: messages)
        bufferSize += Self.size(of: messages)
    }

    /// True if everything up to `end` has arrived.
    private var isAtEnd: Bool {
        guard let end, tracker.base >= end else { return false }
        if case .documents = tracker.phase { return false }
        return true
    }

    private static func size(of messages: [FeedTracker.Delivery]) -> Int {
        messages.reduce(0) { $0 + $1.message.header.count + $1.message.data.count }
    }

    // MARK: The claim

    /// Returns the claim to renew: a renewal tells the broker that the member is alive, and asks if the claim is still
    /// valid. Nil if there is no claim, or a renewal is unanswered.
    mutating func renew() -> ConsumerClaim? {
        guard let claim, !isRenewing else { return nil }
        isRenewing = true
        return claim
    }

    /// Handles the answer to a renewal.
    /// - Parameter claimed: The partitions that the member owns now; `nil` if they are unknown. If they differ from the
    ///   claim, the messages end.
    mutating func renewed(_ claimed: Claimed?) {
        isRenewing = false
        guard let claim, let claimed else { return }
        let ownership = Ownership(ownerGeneration: claimed.ownerGeneration, offsets: claimed.offsets)
        if !ownership.matches(claim, in: claimed.epoch) { finish() }
    }

    /// Returns the progress of a waiting member beyond messages that it does not handle.
    /// - Parameters:
    ///   - epoch: The epoch of the journal.
    ///   - settled: Returns the offset up to which everything is handled if everything up to its argument has been
    ///     delivered.
    /// - Returns: A checkpoint to record; `nil` if there is no new progress.
    mutating func progress(in epoch: UInt64, settled: (_ delivered: UInt64) -> UInt64) -> CheckpointFrame? {
        guard wait != nil, let claim, claim.epoch == epoch, claim.ownerGeneration > 0 else { return nil }
        let offset = settled(tracker.base)
        guard offset > recorded else { return nil }
        recorded = offset
        return CheckpointFrame(
            consumer: claim.consumer, ownerGeneration: claim.ownerGeneration, epoch: epoch, offset: offset,
            settled: offset,
            partition: nil)
    }
}
