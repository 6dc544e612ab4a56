/// The state of a client while the bus is open: the hello that the broker is to answer, and the times and counters that
/// show a connection that has fallen silent.
struct ClientConnection {
    typealias Instant = ContinuousClock.Instant

    /// The hello that the client sends by itself. Hellos of callers are not included.
    enum HelloState {
        /// All hellos are answered.
        case answered
        /// The last hello was refused. Until the next tick, no hello is sent only because the broker lacks a batch.
        case refused
        case unanswered(Hello)
    }

    /// An unanswered hello, with the state of the client when it was created.
    struct Hello {
        let id: UInt64
        /// The sequence number of the last batch that had been answered.
        let answeredSequence: UInt64
        /// The number of leased documents that the journal had recorded.
        let leasedCount: Int
        /// True if the client requests the last offsets of topics when the hello is answered.
        var pollsHeads: Bool
    }

    var hello = HelloState.answered
    /// True if a call of ``ClientStateMachine/wake(at:)`` was requested that has not come yet.
    var willWake = false
    var leaseRenewal = LeaseRenewal()
    /// The time at which something last arrived from the broker on the ingress, or the bus was opened. Each warning
    /// that no broker answers also sets it.
    private var lastReceived: Instant
    /// A broker that is slow gets more time after each reconnection, because it would have more to do for each.
    private var quietIngress = SilenceCounter(limit: 6, longest: 24)
    /// Counters of seconds without a message on the feed while a message is missing, and while a subscription is not
    /// confirmed.
    private var quietFeed = (losses: SilenceCounter(limit: 2), confirmations: SilenceCounter(limit: 3))

    /// - Parameter now: The time at which the bus was opened.
    init(at now: Instant) {
        lastReceived = now
    }

    /// The unanswered hello; nil if there is none.
    var unansweredHello: Hello? {
        if case .unanswered(let hello) = hello { hello } else { nil }
    }

    /// Begins a tick: an unanswered hello that was sent since the last tick serves as the hello of this one.
    /// - Returns: False if the hello of an earlier tick is unanswered.
    mutating func beginTick() -> Bool {
        guard var hello = unansweredHello else {
            self.hello = .answered
            return true
        }
        if hello.pollsHeads { return false }
        hello.pollsHeads = true
        self.hello = .unanswered(hello)
        return true
    }

    /// Records that something has arrived on the ingress.
    mutating func recordIngress(at now: Instant) {
        lastReceived = now
        quietIngress.recordActivity()
    }

    /// Records that something has arrived on the feed.
    mutating func recordFeed() {
        quietFeed.losses.recordActivity()
        quietFeed.confirmations.recordActivity()
    }

    /// True if a warning that no broker answers is due. The next one is due 4 s later.
    mutating func isWarningDue(at now: Instant) -> Bool {
        guard now - lastReceived > .seconds(4) else { return false }
        lastReceived = now
        return true
    }

    /// Counts a second in which an answer is awaited on the ingress.
    /// - Returns: True if the ingress has brought nothing for too long.
    mutating func missIngress() -> Bool {
        quietIngress.miss()
    }

    /// Counts a second of the feed.
    /// - Parameters:
    ///   - hasLosses: True if a message is missing.
    ///   - isUnconfirmed: True if a subscription is not confirmed. Does not count while a hello is unanswered.
    /// - Returns: True if the feed has brought nothing for too long.
    mutating func missFeed(hasLosses: Bool, isUnconfirmed: Bool) -> Bool {
        let isLossy = hasLosses && quietFeed.losses.miss()
        let isSilent = isUnconfirmed && unansweredHello == nil && quietFeed.confirmations.miss()
        return isLossy || isSilent
    }
}

/// Decides when the leased documents of a client are published again.
struct LeaseRenewal {
    /// True if the journal may lack the present versions of the documents. Set when the epoch changes or the journal
    /// has lost its end.
    private var isInDoubt = false
    /// The time at which documents were last published again; nil if they were not.
    private var last: ContinuousClock.Instant?

    mutating func doubt() {
        isInDoubt = true
    }

    /// Handles the answer to a hello, which ends a doubt.
    /// - Parameter isMissing: True if the broker holds fewer documents than it has acknowledged.
    /// - Returns: True if the documents are to be published again: they are in doubt, or some are missing and the last
    ///   time was more than 5 s ago.
    mutating func isDue(isMissing: Bool, at now: ContinuousClock.Instant) -> Bool {
        defer { isInDoubt = false }
        return isInDoubt || isMissing && last.map { now - $0 > .seconds(5) } ?? true
    }

    mutating func record(at now: ContinuousClock.Instant) {
        last = now
    }
}

/// Counts the seconds in which a socket receives nothing although something is due. When the limit is reached, the
/// client makes a new connection.
struct SilenceCounter {
    private let (first, longest): (Int, Int)
    private var limit: Int
    private var count = 0

    /// - Parameter longest: The limit doubles each time it is reached, up to this. Nil if it stays the same.
    init(limit: Int, longest: Int? = nil) {
        (self.limit, first, self.longest) = (limit, limit, longest ?? limit)
    }

    /// Records that the socket has received something.
    mutating func recordActivity() {
        (count, limit) = (0, first)
    }

    /// Counts a second without a message.
    /// - Returns: True if the limit is reached; then the count starts again.
    mutating func miss() -> Bool {
        count += 1
        guard count >= limit else { return false }
        (count, limit) = (0, min(2 * limit, longest))
        return true
    }
}
