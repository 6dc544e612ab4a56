internal import BusProtocol
internal import DequeModule
internal import EventBus

/// One subscription: what it has received, the messages that its reader has not taken yet, and the claim that it reads under.
///
/// It says what it needs (``nextRead``, ``handOver()``); its owner sends requests and wakes the reader.
struct Subscription {
    /// The number of messages beyond which the reader is slow, and what follows waits in the journal.
    static let capacity = 1024
    /// The same in bytes: a page may bring a message of 4 MiB.
    static let capacitySize = 8 * 1024 * 1024
    /// The number of messages that a reader takes at once.
    static let handOverCount = 256

    /// A subscription that the broker has not confirmed.
    struct Plan {
        var prefixes: [String]
        var start: FeedTracker.Start
        /// The messages end after this position; `nil` for never.
        var end: Position?
        /// What the reader consumes under; `nil` for an ordinary subscription.
        var claim: ConsumerClaim?
        /// Whether losses are looked for.
        var isWatched = false
    }

    /// What a waiting reader is given.
    enum HandOver {
        /// None of them is the end.
        case messages([FeedTracker.Delivery])
        case failure(BusError)
    }

    let id: UInt64
    let prefixes: [String]
    let claim: ConsumerClaim?
    private var tracker: FeedTracker
    /// The end of the journal up to which the broker has been asked what was published.
    private(set) var polledThrough: UInt64
    /// The page that was asked for last, and has not come.
    private var page: UInt64?
    /// Whether the broker refused a page; the next tick asks again.
    private var isRefused = false
    /// Whether the broker has been asked if the claim still holds.
    private var isRenewing = false
    /// The offset up to which the broker has been told that everything is handled, whether or not there was a message.
    private var recorded: UInt64
    private var buffer: Deque<FeedTracker.Delivery> = []
    private var bufferSize = 0
    /// The number of the reader's wait: a cancellation that comes late must not end the next one.
    private var wait: UInt64?
    private var hasEnded = false
    /// Why it has ended, if the reader did not ask for that.
    private var failure: BusError?
    /// The offset after which no message is given; `nil` for no end.
    private let end: UInt64?

    /// - Parameter head: the journal's end when the subscription became live.
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

    /// Takes the next messages that are here already.
    mutating func takeBuffered() -> [FeedTracker.Delivery] {
        guard !hasEnded else { return [] }
        let messages = Array(buffer.prefix(Self.handOverCount))
        buffer.removeFirst(messages.count)
        bufferSize -= Self.size(of: messages)
        return messages
    }

    /// The reader waits: it has handled all that it took, or has noted in its progress what it has not finished.
    /// - Parameter number: unique among the waits of the subscription.
    mutating func beginWaiting(_ number: UInt64) {
        wait = number
    }

    /// - Returns: whether this wait was still under way.
    mutating func stopWaiting(_ number: UInt64) -> Bool {
        guard wait == number else { return false }
        wait = nil
        return true
    }

    /// What the reader gets now, if it waits and there is something for it.
    mutating func handOver() -> HandOver? {
        guard wait != nil else { return nil }
        if let failure {
            wait = nil
            return .failure(failure)
        }
        guard !buffer.isEmpty || hasEnded || isAtEnd else { return nil }
        wait = nil
        return .messages(takeBuffered())
    }

    /// Ends the messages: the claim no longer says what its member owns.
    mutating func finish() {
        hasEnded = true
    }

    // MARK: The feed and the journal

    /// What to read next; `nil` while live, while a page is on its way or while the reader has enough.
    var nextRead: FeedTracker.Phase? {
        let hasEnough = buffer.count >= Self.capacity / 2 || bufferSize >= Self.capacitySize / 2
        return tracker.phase == .live || page != nil || isRefused || hasEnough || isAtEnd || hasEnded
            ? nil : tracker.phase
    }

    /// Takes note of the request that reads ``nextRead``.
    mutating func noteRead(_ id: UInt64) {
        page = id
    }

    /// - Parameter messages: of one topic.
    mutating func receive(live messages: [FeedMessage]) {
        let room = bufferSize < Self.capacitySize ? Self.capacity - buffer.count : 0
        append(tracker.receive(live: messages, room: room))
    }

    /// - Parameter id: the request that is answered. Only the last one counts: an earlier one was asked of another journal, or of
    ///   a part of this one that was lost.
    /// - Returns: what the subscription lacked.
    mutating func receive(_ page: Page, to id: UInt64) -> [SubscriptionNotice] {
        guard id == self.page else { return [] }
        self.page = nil
        append(tracker.receive(page))
        return tracker.takeNotices()
    }

    /// The broker refused a page, or answered it in another epoch.
    mutating func refuse(_ id: UInt64, untilNextTick isLong: Bool) {
        guard id == page else { return }
        page = nil
        if isLong { isRefused = true }
    }

    /// Takes note of what has been journalled; ``judge()`` compares it with what has come.
    mutating func note(_ heads: Heads) {
        polledThrough = max(polledThrough, heads.through)
        tracker.note(heads)
    }

    /// Looks whether what had been journalled has come.
    /// - Returns: whether something is missing that the feed had time to bring.
    @discardableResult
    mutating func judge() -> Bool {
        tracker.judge()
    }

    /// A second has passed: a page that was refused may be asked for again.
    /// - Returns: as ``judge()``.
    mutating func tick() -> Bool {
        isRefused = false
        return judge()
    }

    /// Begins anew in another epoch. An end in the one before will never come: a reader that waits for it must not take what it
    /// has for everything. A claim counts only in the journal in which it was made: its consumer claims again.
    /// - Parameter offset: where the epoch began.
    mutating func restart(from offset: UInt64) {
        if claim != nil { finish() }
        guard end == nil else {
            hasEnded = true
            failure = BusError(.epoch, "the journal was replaced before the messages had ended")
            return
        }
        tracker.restart(from: offset)
        polledThrough = 0
        page = nil
    }

    /// Goes back to the end of a journal that has lost what came after it.
    mutating func takeBack(to head: UInt64) {
        tracker.takeBack(to: head)
        polledThrough = min(polledThrough, head)
        page = nil
    }

    private mutating func append(_ messages: [FeedTracker.Delivery]) {
        let messages = end.map { end in messages.filter { $0.message.offset <= end } } ?? messages
        buffer.append(contentsOf: messages)
        bufferSize += Self.size(of: messages)
    }

    /// Whether all that the reader is to have has come.
    private var isAtEnd: Bool {
        guard let end, tracker.base >= end else { return false }
        if case .documents = tracker.phase { return false }
        return true
    }

    private static func size(of messages: [FeedTracker.Delivery]) -> Int {
        messages.reduce(0) { $0 + $1.message.header.count + $1.message.data.count }
    }

    // MARK: The claim

    /// The claim that the broker is to be asked about now: that its member lives, and whether it still holds.
    mutating func renew() -> ConsumerClaim? {
        guard let claim, !isRenewing else { return nil }
        isRenewing = true
        return claim
    }

    /// - Parameter claimed: what the member owns now; `nil` if that is not known. If it is something else, the messages end.
    mutating func renewed(_ claimed: Claimed?) {
        isRenewing = false
        guard let claim, let claimed else { return }
        let holds = claimed.ownerEpoch == claim.ownerEpoch && claimed.epoch == claim.epoch
        if !holds || Set(claimed.offsets.keys) != Set(claim.offsets.keys) { finish() }
    }

    /// How far the member has come without a message for it: messages that it has nothing to do with must neither hold retention
    /// up nor count as lost to it.
    /// - Parameters:
    ///   - epoch: of the journal.
    ///   - settled: gives the offset up to which all is handled when all up to its argument has been delivered.
    /// - Returns: a checkpoint to record; `nil` if the last one still says it.
    mutating func progress(in epoch: UInt64, settled: (_ delivered: UInt64) -> UInt64) -> CheckpointFrame? {
        guard wait != nil, let claim, claim.epoch == epoch, claim.ownerEpoch > 0 else { return nil }
        let offset = settled(tracker.base)
        guard offset > recorded else { return nil }
        recorded = offset
        return CheckpointFrame(
            consumer: claim.consumer, ownerEpoch: claim.ownerEpoch, epoch: epoch, offset: offset, settled: offset,
            partition: nil)
    }
}
