internal import Compose
internal import Foundation

/// A stack whose supervisor goes on after this command has ended.
struct DetachedStack {
    let project: Project
    /// Of the compose file.
    let path: String
    /// Whether what the services write meanwhile is shown.
    var isVerbose = false

    /// - Throws: ``ComposeError`` of the supervisor.
    func start(until milestone: DetachedSupervisor.Milestone) async throws {
        if let status = try ProjectStatus.read(project), status.isSupervisorAlive, status.phase == .up {
            let hint = "to apply what changed in \(path), take it down first"
            return await Console.error.tell("project '\(project.name)' is already up; \(hint)")
        }
        let file = URL(fileURLWithPath: path).path
        let supervisor = DetachedSupervisor(
            project: project, arguments: ["supervise", "-f", file, "-p", project.name])
        try await StartProgress(project: project, isVerbose: isVerbose).show { onProgress in
            try await supervisor.start(until: milestone, onProgress: onProgress)
        }
        let state = milestone == .ready ? "is up" : "is starting"
        await Console.error.tell("project '\(project.name)' \(state), its bus is \(project.busAddress)")
    }
}
