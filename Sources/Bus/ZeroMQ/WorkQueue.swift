/// What a socket thread has to do besides its sockets.
struct WorkQueue {
    enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    struct Timer {
        let deadline: ContinuousClock.Instant
        let work: @Sendable () -> Void
    }

    var ready: [Work] = []
    /// Few at a time, so they are searched, not sorted.
    var timers: [Timer] = []
    var isStopping = false

    /// Takes all that may run now.
    mutating func takeReady(now: ContinuousClock.Instant) -> [Work] {
        let due = timers.filter { $0.deadline <= now }
        if !due.isEmpty {
            timers.removeAll { $0.deadline <= now }
        }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready + due.map { .closure($0.work) }
    }

    /// Milliseconds until there is something to do; -1 for ever.
    func timeout(now: ContinuousClock.Instant) -> Int {
        if !ready.isEmpty || isStopping { return 0 }
        guard let next = timers.map(\.deadline).min() else { return -1 }
        return max(0, Int((next - now) / .milliseconds(1)) + 1)
    }
}
