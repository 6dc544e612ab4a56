internal import Compose

/// A stack whose supervisor goes on after this command has ended.
struct DetachedStack {
    let project: Project
    let stack: Stack
    /// What starts at once.
    var selection = Selection.all
    var options = SuperviseOptions()

    /// - Throws: ``ComposeError`` of the supervisor.
    func start(until milestone: DetachedSupervisor.Milestone) async throws {
        try await project.withFile(of: stack) { path in
            try await start(path, until: milestone)
        }
        let state = milestone == .ready ? "is up" : "is starting"
        await Console.error.tell("project '\(project.name)' \(state), its bus is \(project.busAddress)")
    }

    private func start(_ path: String, until milestone: DetachedSupervisor.Milestone) async throws {
        let flags = options.arguments + (selection.includesDependencies ? [] : ["--no-deps"])
        let supervisor = DetachedSupervisor(
            project: project, arguments: ["supervise", "-p", project.name] + flags + [path] + selection.services)
        let (progress, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(16))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await show(progress) }
            defer { continuation.finish() }
            try await supervisor.start(until: milestone) { continuation.yield($0) }
        }
    }

    private func show(_ progress: AsyncStream<String>) async {
        var last: String?
        for await step in progress where step != last {
            last = step
            await Console.error.tell(step)
        }
    }
}
