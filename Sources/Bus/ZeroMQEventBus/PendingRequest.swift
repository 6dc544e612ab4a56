internal import BusProtocol

/// A request that the broker has not answered.
struct PendingRequest {
    var request: Request
    var reply: ReplyHandler
    var resending = Resending()
    /// What the batch makes of leased documents once it is journalled.
    var leases: LeasedDocuments.Change?

    /// What to do with the answer.
    enum ReplyHandler {
        /// Somebody waits; nobody any more, if nil: a batch is sent on, even if its publisher was cancelled, because the
        /// batches behind it count on its sequence.
        case resume(CheckedContinuation<Reply, any Error>?)
        case page(subscriber: Int)
        /// - `judgeNow`: after a reconnection nothing is under way that could still come.
        case heads(subscribers: [Int], judgeNow: Bool)
        /// - `answered`: the last batch that had been answered when the hello was said.
        /// - `leased`: how many leased documents were journalled then.
        /// - `pollsHeads`: whether losses are looked for, which takes the feed some time.
        case welcome(answered: UInt64, leased: Int, pollsHeads: Bool)
        /// What a claim owns now.
        case renewal(subscriber: Int)
        /// Nobody needs to know.
        case ignored
    }

    var isBatch: Bool {
        if case .publish = request { true } else { false }
    }

    /// Whether it records the progress of a durable consumer.
    var hasCheckpoint: Bool {
        if case .publish(let batch) = request { batch.checkpoint != nil } else { false }
    }

    var isQuery: Bool {
        if case .ask = request { true } else { false }
    }
}

/// When a request was sent, and when it is to be sent again: it waits twice as long each time.
struct Resending {
    static let shortestWait: Duration = .milliseconds(250)
    static let longestWait: Duration = .seconds(2)

    /// When it was last sent on the connection of the moment; nil if it was not.
    private(set) var sentAt: ContinuousClock.Instant?
    private var wait: Duration?
    private var count = 0

    /// - Parameter wait: how long an answer may take; it counts for the first time.
    mutating func send(at now: ContinuousClock.Instant, wait first: Duration) {
        sentAt = now
        wait = wait.map { min($0 * 2, Self.longestWait) } ?? first
        count += 1
    }

    /// Begins anew: the connection on which it was sent has gone.
    mutating func reset() {
        (sentAt, wait) = (nil, nil)
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard let sentAt, let wait else { return false }
        return now - sentAt >= wait
    }

    /// How long the answer took that has come; nil when nobody can say which sending it answers.
    func roundTrip(at now: ContinuousClock.Instant) -> Duration? {
        count == 1 ? sentAt.map { now - $0 } : nil
    }
}

/// How long answers take at the moment. A broker that has much to do is not given more.
struct RoundTrips {
    /// The longest of the last ones: each shorter one lowers it by an eighth.
    private var longest: Duration = .zero

    mutating func note(_ time: Duration) {
        longest = max(time, longest * 7 / 8)
    }

    /// How long an answer may take.
    var wait: Duration { min(max(longest * 4, Resending.shortestWait), Resending.longestWait) }
}
