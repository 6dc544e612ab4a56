internal import Compose

/// A stack whose supervisor goes on after this command has ended.
struct DetachedStack {
    let project: Project
    let stack: Stack
    /// What starts at once.
    var selection = Selection.all
    /// What the supervisor's command line says beyond that.
    var arguments: [String] = []
    /// Whether what the services write meanwhile is shown.
    var isVerbose = false

    /// - Throws: ``ComposeError`` of the supervisor.
    func start(until milestone: Milestone) async throws {
        let flags = arguments + (selection.includesDependencies ? [] : ["--no-deps"])
        let supervisor = DetachedSupervisor(
            project: project, arguments: ["supervise", "-p", project.name] + flags + selection.services,
            input: try stack.text)
        try await StartProgress(project: project, isVerbose: isVerbose).show { onProgress in
            try await supervisor.start(until: milestone, onProgress: onProgress)
        }
        let state = milestone == .ready ? "is up" : "is starting"
        await Console.error.tell("project '\(project.name)' \(state), its bus is \(project.busAddress)")
    }
}
