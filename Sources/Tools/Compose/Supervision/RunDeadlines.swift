import Glibc
import SystemSupport

/// Until when one run of a service must give its next sign of life, by sd_notify(3).
///
/// On a clock that stands still while the machine sleeps: waking up is nobody's fault.
struct RunDeadlines {
    typealias Instant = SuspendingClock.Instant

    private let timeout: Duration
    private let watchdog: Duration?
    private var start: Instant?
    private var heartbeat: Instant?
    private var isTriggered = false

    /// - Parameters:
    ///   - start: until when it must be ready; `nil` when nobody waits for that.
    ///   - timeout: how long that is, for people to read.
    init(start: Instant?, timeout: Duration, watchdog: Duration?, now: Instant) {
        self.start = start
        self.timeout = timeout
        self.watchdog = watchdog
        heartbeat = watchdog.map { now + $0 }
    }

    /// When to look for a fault again, if no message comes before.
    var next: Instant? { [start, heartbeat].compactMap(\.self).min() }

    mutating func take(_ message: NotifyMessage, at now: Instant) {
        if let extra = message.startExtension, let end = start { start = max(end, now + extra) }
        if message.isHeartbeat || message.isReady { beat(at: now) }
        if message.isWatchdogTriggered { isTriggered = true }
    }

    /// - Parameter state: of the service; what is not ready yet, or stopping, need not send anything.
    mutating func fault(of state: ServiceStatus.State, at now: Instant) -> RunFault? {
        if isTriggered { return .hung("says that it hangs") }
        if state != .starting {
            start = nil
        } else if let end = start, now >= end {
            return .notReady(within: timeout)
        }
        guard let watchdog, let end = heartbeat, now >= end else { return nil }
        if state == .ready || state == .running { return .hung("sent no WATCHDOG=1 for \(watchdog)") }
        beat(at: now)
        return nil
    }

    private mutating func beat(at now: Instant) {
        heartbeat = watchdog.map { now + $0 }
    }
}

/// Why the supervisor ends a process that would go on by itself.
struct RunFault: Sendable, Equatable, CustomStringConvertible {
    /// In words that follow the service's name.
    let description: String
    /// What asks it to end, if not the service's own stop signal.
    var signal: StopSignal?

    static func notReady(within timeout: Duration) -> RunFault {
        RunFault(description: "was not ready within \(timeout)")
    }

    static func unhealthy(_ reason: String?) -> RunFault {
        RunFault(description: "is unhealthy" + (reason.map { ": \($0)" } ?? ""))
    }

    /// A process that hangs is ended as systemd does it, with a signal that leaves a core where cores are wanted, or a
    /// backtrace where Swift writes them. The latter outlives the signal; the kill after the grace ends it.
    static func hung(_ description: String) -> RunFault {
        RunFault(description: description, signal: StopSignal(number: SIGABRT))
    }
}
