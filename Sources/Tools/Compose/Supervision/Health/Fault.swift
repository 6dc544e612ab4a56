import Glibc

/// Why the supervisor ends a process that would go on by itself.
struct Fault: Sendable, Equatable, CustomStringConvertible {
    /// In words that follow the service's name.
    let description: String
    /// What asks it to end, if not the service's own stop signal.
    var signal: StopSignal?

    static func notReady(within timeout: Duration) -> Fault {
        Fault(description: "was not ready within \(timeout)")
    }

    static func unhealthy(_ reason: String?) -> Fault {
        Fault(description: "is unhealthy" + (reason.map { ": \($0)" } ?? ""))
    }

    /// A process that hangs is ended as systemd does it, with a signal that leaves a core where cores are wanted.
    static func hung(_ description: String) -> Fault {
        Fault(description: description, signal: StopSignal(number: SIGABRT))
    }
}
