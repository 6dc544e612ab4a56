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
    private var timers: [Timer] = []
    /// That of the first timer: a thousand queries have a thousand deadlines, and are not searched in every turn.
    private var nextDeadline: ContinuousClock.Instant?
    var isStopping = false

    mutating func add(_ timer: Timer) {
        timers.append(timer)
        nextDeadline = nextDeadline.map { min($0, timer.deadline) } ?? timer.deadline
    }

    /// Takes all that may run now.
    mutating func takeReady(now: ContinuousClock.Instant) -> [Work] {
        var due: [Timer] = []
        if let nextDeadline, nextDeadline <= now {
            due = timers.filter { $0.deadline <= now }
            timers.removeAll { $0.deadline <= now }
            self.nextDeadline = timers.map(\.deadline).min()
        }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready + due.map { .closure($0.work) }
    }

    /// Milliseconds until there is something to do; -1 for ever.
    func timeout(now: ContinuousClock.Instant) -> Int {
        if !ready.isEmpty || isStopping { return 0 }
        guard let next = nextDeadline else { return -1 }
        return max(0, Int((next - now) / .milliseconds(1)) + 1)
    }
}
