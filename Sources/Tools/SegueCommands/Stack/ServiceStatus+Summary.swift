internal import Compose

extension ServiceStatus {
    /// How it is, in a few words.
    var summary: String {
        switch state {
        case .created: order.isWanted ? "waits to be started" : "is not started"
        case .starting: "is starting"
        case .ready: "is ready"
        case .running: "runs"
        case .restarting: "\(ending ?? "ended") and is started again"
        case .stopping: "is stopping"
        case .exited: ending ?? "has ended"
        case .failed: "failed"
        }
    }

    /// How its last run ended.
    var ending: String? {
        if let signal { return "was ended by \(StopSignal.name(of: signal))" }
        return exitCode.map { "exited with status \($0)" }
    }
}
