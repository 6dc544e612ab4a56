internal import EventBus

/// The time since a member of a durable consumer last had a valid claim, as a value without side effects.
struct ClaimHealth: Sendable {
    /// The time without a valid claim after which it is reported.
    static let patience = ListeningPeriod.patience

    /// The time of the last good comparison with the recorded group, or of the beginning.
    private var lastValid: ContinuousClock.Instant
    /// The reason for which there has been no valid claim since.
    private var reason = "it could not claim, or the record of its claim could not be read"
    private var isReported = false
    /// True if a claim has lost its fence since. A new claim alone then does not prove that it will last.
    private(set) var hasLostFence = false

    init(at now: ContinuousClock.Instant) {
        lastValid = now
    }

    /// Records that the claim is valid.
    /// - Returns: True if it was reported that there was none.
    mutating func recordValid(at now: ContinuousClock.Instant) -> Bool {
        defer { self = ClaimHealth(at: now) }
        return isReported
    }

    mutating func record(_ reason: String) { self.reason = reason }

    /// - Returns: True if no fence was lost since the claim was valid.
    mutating func recordLostFence() -> Bool {
        reason = "the servers have lost records of its claim"
        defer { hasLostFence = true }
        return !hasLostFence
    }

    /// One line for people: how long there has been no valid claim, and why. Nil before `patience` has passed.
    func report(at now: ContinuousClock.Instant, after patience: Duration = patience) -> String? {
        let time = now - lastValid
        return time >= patience ? "has had no valid claim for \(time.components.seconds) s: \(reason)" : nil
    }

    /// - Returns: The report, the first time that there is one.
    mutating func reportOnce(at now: ContinuousClock.Instant, after patience: Duration = patience) -> String? {
        guard !isReported, let report = report(at: now, after: patience) else { return nil }
        isReported = true
        return report
    }
}
