/// When a request was sent, and how long its answer may take before the client looks for a loss. The wait doubles each
/// time, up to ``longestWait``.
struct Resending {
    static let shortestWait: Duration = .milliseconds(250)
    static let longestWait: Duration = .seconds(2)

    /// The time at which the request was last sent on the current connection; nil if it was not.
    private(set) var sentAt: ContinuousClock.Instant?
    /// The places of the first and the last copy among all that was sent; nil if none was sent on this connection.
    private(set) var places: ClosedRange<UInt64>?
    private var wait: Duration?
    private var count = 0
    /// The number of copies that were sent on the current connection and have no answer.
    private var unanswered = 0

    /// Records that the request was sent.
    /// - Parameters:
    ///   - place: The place of this copy among all that was sent.
    ///   - first: The time to wait for the answer if the request has not been sent on this connection before.
    mutating func send(at now: ContinuousClock.Instant, place: UInt64, wait first: Duration) {
        sentAt = now
        places = (places?.lowerBound ?? place)...place
        wait = wait.map { min($0 * 2, Self.longestWait) } ?? first
        count += 1
        unanswered += 1
    }

    /// Records that the broker has refused a copy, which may be sent again.
    mutating func refuse() {
        unanswered = max(0, unanswered - 1)
    }

    /// Records that no copy is recorded, and that all are lost or refused.
    mutating func lose() {
        unanswered = 0
    }

    /// True if a copy may still be recorded. What was sent on an earlier connection does not count: it is lost, or was
    /// handled before.
    var isUnderWay: Bool { unanswered > 0 }

    /// Starts again, as if the request had not been sent.
    mutating func reset(isNewConnection: Bool) {
        (sentAt, places, wait) = (nil, nil, nil)
        if isNewConnection { unanswered = 0 }
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard let sentAt, let wait else { return false }
        return now - sentAt >= wait
    }

    /// The time that the answer took; nil if the request was sent more than once, because it is unknown which sending
    /// was answered.
    func roundTrip(at now: ContinuousClock.Instant) -> Duration? {
        count == 1 ? sentAt.map { now - $0 } : nil
    }
}

/// The recent round-trip times.
struct RoundTrips {
    /// The longest recent time. Each shorter one lowers it by at most an eighth.
    private var longest: Duration = .zero

    mutating func record(_ time: Duration) {
        longest = max(time, longest * 7 / 8)
    }

    /// The time to wait for an answer before the client looks for a loss.
    var wait: Duration { min(max(longest * 4, Resending.shortestWait), Resending.longestWait) }
}
