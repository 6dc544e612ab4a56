/// Why one run of a service's process came to its end.
struct RunCause: Sendable {
    enum Reason: Sendable, Equatable {
        case leaderExited
        case stopRequested
        case faulty(Fault)
    }

    let reason: Reason
    /// Whether it had said that it is ready by then.
    let wasReady: Bool

    var fault: Fault? {
        if case .faulty(let fault) = reason { fault } else { nil }
    }
}
