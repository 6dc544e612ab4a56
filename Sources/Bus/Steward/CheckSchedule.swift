/// Decides when the servers are compared again, as a value without side effects.
struct CheckSchedule {
    /// The time between two checks if no server has returned.
    private static let interval = Duration.seconds(600)

    private var checked: [String: String]
    private let rest: ContinuousClock.Instant
    private let end: ContinuousClock.Instant

    /// - Parameters:
    ///   - checked: The servers that the check has read, with their runs when it began. A run has an id, which is empty
    ///     if it is not known.
    ///   - start: The time at which it began.
    init(afterCheckOf checked: [String: String], from start: ContinuousClock.Instant, to now: ContinuousClock.Instant) {
        self.checked = checked
        let pause = Self.rest(after: now - start)
        rest = now + pause
        end = now + max(Self.interval, pause)
    }

    /// The least time between two checks: the servers have two thirds of the time for others.
    static func rest(after check: Duration) -> Duration { check * 2 }

    /// - Parameter present: The servers that can be read now, with their runs.
    mutating func isDue(_ present: [String: String], at now: ContinuousClock.Instant) -> Bool {
        // A server that was away may have missed something.
        checked = checked.filter { present[$0.key] != nil }
        guard now < end else { return true }
        let hasReturned = present.contains { name, run in
            guard let old = checked[name] else { return true }
            return run != old && !run.isEmpty
        }
        return hasReturned && now >= rest
    }
}
