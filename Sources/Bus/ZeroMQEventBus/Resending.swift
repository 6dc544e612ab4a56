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
