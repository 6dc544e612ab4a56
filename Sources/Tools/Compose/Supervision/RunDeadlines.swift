import Glibc
import SystemSupport

/// The deadlines by which a service must send messages (sd_notify(3)) in one run.
///
/// They are instants of a ``RunningClock``.
struct RunDeadlines {
    typealias Instant = RunningClock.Instant

    private let timeout: Duration
    private let watchdog: Duration?
    private var start: Instant?
    private var heartbeat: Instant?
    private var isTriggered = false

    /// - Parameters:
    ///   - start: the deadline for becoming ready; nil if the service is not expected to become ready.
    ///   - timeout: the time in which the service must become ready, for error messages.
    init(start: Instant?, timeout: Duration, watchdog: Duration?, now: Instant) {
        self.start = start
        self.timeout = timeout
        self.watchdog = watchdog
        heartbeat = watchdog.map { now + $0 }
    }

    /// The next deadline; nil if there is none.
    var next: Instant? { [start, heartbeat].compactMap(\.self).min() }

    mutating func handle(_ message: NotifyMessage, at now: Instant) {
        if let extra = message.startExtension, let end = start { start = max(end, now + extra) }
        if message.isHeartbeat || message.isReady { beat(at: now) }
        if message.isWatchdogTriggered { isTriggered = true }
    }

    /// The fault of the service at a time; nil if there is none.
    ///
    /// - Parameter state: the service's state. The service must send `WATCHDOG=1` only while it is ready or running.
    mutating func fault(of state: InstanceStatus.State, at now: Instant) -> RunFault? {
        if isTriggered { return .hung("reported that it hangs") }
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

/// The reason why the supervisor ends a process without a request.
struct RunFault: Sendable, Equatable, CustomStringConvertible {
    /// A phrase that follows the service's name, such as `was not ready within 30.0 seconds`.
    let description: String
    /// The signal that asks the process to end; nil for the service's own stop signal.
    var signal: StopSignal?

    static func notReady(within timeout: Duration) -> RunFault {
        RunFault(description: "was not ready within \(timeout)")
    }

    static func unhealthy(_ reason: String?) -> RunFault {
        RunFault(description: "is unhealthy" + (reason.map { ": \($0)" } ?? ""))
    }

    /// The process hangs. It is asked to end by `SIGABRT`.
    static func hung(_ description: String) -> RunFault {
        RunFault(description: description, signal: StopSignal(number: SIGABRT))
    }
}
