internal import Compose
internal import Monitor

extension ProjectEvent {
    func line(in project: Project) -> String {
        "\(instance ?? "project '\(project.name)'") \(summary)".printable
    }

    /// What has happened, in a few words that follow the name of the instance, or of the project.
    var summary: String {
        switch action {
        case .supervisorStarted: "is supervised from now on" + process
        case .up: "is up"
        case .supervisorEnded: "is down"
        case .created: "was created"
        case .starting: "is starting" + process
        case .ready: "is ready" + (attributes["after"].map { " after \($0) s" } ?? "")
        case .healthy: "is healthy"
        case .unhealthy: "is unhealthy" + reason
        case .stopping: "is stopping" + (attributes["reason"].map { ": it \($0)" } ?? "")
        case .exited: ending + (attributes["reason"].map { ": it \($0)" } ?? "")
        case .restarting: "is started again" + (attributes["pause"].map { " in \($0) s" } ?? "")
        case .stopped: "has stopped"
        case .failed: "failed" + reason
        case .removed: "was removed"
        }
    }

    private var process: String { pid.map { " (pid \($0))" } ?? "" }
    private var reason: String { attributes["reason"].map { ": \($0)" } ?? "" }

    private var ending: String {
        if let signal = attributes["signal"] { return "was ended by \(signal)" }
        return "exited" + (attributes["exitCode"].map { " with status \($0)" } ?? "")
    }
}
