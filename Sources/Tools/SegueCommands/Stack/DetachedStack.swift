internal import Compose
internal import Foundation

/// A stack whose supervisor goes on after this command has ended.
struct DetachedStack {
    let project: Project
    /// Of the compose file.
    let path: String

    /// - Throws: ``ComposeError`` of the supervisor.
    func start(until milestone: DetachedSupervisor.Milestone) async throws {
        if let status = try ProjectStatus.read(project), status.isSupervisorAlive, status.phase == .up {
            let hint = "to apply what changed in \(path), take it down first"
            return await Console.error.tell("project '\(project.name)' is already up; \(hint)")
        }
        let file = URL(fileURLWithPath: path).path
        let supervisor = DetachedSupervisor(
            project: project, arguments: ["supervise", "-f", file, "-p", project.name])
        let (progress, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(16))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await show(progress) }
            defer { continuation.finish() }
            try await supervisor.start(until: milestone) { continuation.yield($0) }
        }
        let state = milestone == .ready ? "is up" : "is starting"
        await Console.error.tell("project '\(project.name)' \(state), its bus is \(project.busAddress)")
    }

    private func show(_ progress: AsyncStream<String>) async {
        var last: String?
        for await step in progress where step != last {
            last = step
            await Console.error.tell(step)
        }
    }
}
