/// The time for which a member of a durable consumer has had no valid claim, as a value without side effects.
struct ClaimTrouble: Sendable {
    /// The time after which it is reported: two leases.
    static let patience = Duration.seconds(10)

    private let start: ContinuousClock.Instant
    private var reason: String
    private var isReported = false
    /// True if a claim has lost its fence since. Then another claim does not show that the trouble is over.
    private(set) var hasLostFence = false

    init(_ reason: String, at now: ContinuousClock.Instant) {
        start = now
        self.reason = reason
    }

    mutating func note(_ reason: String) { self.reason = reason }

    mutating func noteLostFence(_ reason: String) {
        self.reason = reason
        hasLostFence = true
    }

    /// One line for people: how long, and why. Nil while it may pass unnoticed.
    /// - Parameter patience: The time after which it is reported.
    func report(at now: ContinuousClock.Instant, after patience: Duration = patience) -> String? {
        let time = now - start
        return time >= patience ? "has had no valid claim for \(time.components.seconds) s: \(reason)" : nil
    }

    /// - Returns: The report, the first time that there is one.
    mutating func takeReport(at now: ContinuousClock.Instant, after patience: Duration = patience) -> String? {
        guard !isReported, let report = report(at: now, after: patience) else { return nil }
        isReported = true
        return report
    }

    /// True if its end is to be reported.
    var wasReported: Bool { isReported }
}
