package import Subprocess

extension TerminationStatus {
    /// How a process came to its end, for people.
    package var summary: String {
        switch self {
        case .exited(let code): "exited with status \(code)"
        case .signaled(let signal): "ended by \(StopSignal.name(of: signal))"
        }
    }
}
