internal import Compose

/// Sends requests to a project's supervisor, and prints the changes that the supervisor makes.
struct StackControl {
    let project: Project
    /// True to print the changes without making them.
    var isRehearsal = false
    /// Tells the user what happens. By default, writes the lines to standard error.
    var report: @Sendable ([String]) async -> Void = { await Console.error.tell($0) }

    /// The maximum time to wait while another command holds the project's lock and no supervisor answers. After this
    /// time, the error `already-running` is thrown.
    private static let patience: Duration = .seconds(30)

    /// Sends a request, and waits, unless this is a rehearsal, until the changes have been carried out.
    /// - Returns: false if the project has no supervisor.
    /// - Throws: ``ComposeError``.
    func perform(_ request: ControlRequest, until milestone: Milestone = .ready) async throws -> Bool {
        let client = ControlClient(project: project)
        guard let changes = try await client.send(request, isRehearsal: isRehearsal) else { return false }
        await tell(changes)
        if !isRehearsal {
            let kept = Set(changes.filter { $0.action == .keep }.map(\.instance))
            try await project.follow(changes, until: milestone) { instance in
                if !kept.contains(instance.name) { await report(["\(instance.name) \(instance.summary)"]) }
            }
        }
        return true
    }

    /// Sends a request, and waits, unless this is a rehearsal, until the changes have been carried out. Calls `start`
    /// instead if the project has no supervisor.
    ///
    /// - Parameter start: starts a supervisor in the background.
    /// - Throws: ``ComposeError``; the errors of `start`.
    func perform(
        _ request: ControlRequest, until milestone: Milestone = .ready, orStart start: () async throws -> Void
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do {
                if try await perform(request, until: milestone) { return }
                return try await start()
            } catch let error as ComposeError where error.code == "stopping" {
                // The supervisor is ending. After its end, a new supervisor can be started.
                try await project.supervisorHasEnded()
            } catch let error as ComposeError where error.code == "already-running" && ContinuousClock.now < deadline {
                // Another command is starting a supervisor, or is stopping processes that a killed supervisor has left.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    func tell(_ changes: [Change]) async {
        let news = changes.filter { $0.action != .keep }
        await report(
            news.isEmpty
                ? ["project '\(project.name)' stays as it is"] : news.map { $0.line(isRehearsal: isRehearsal) })
    }
}

extension Change {
    func line(isRehearsal: Bool) -> String {
        let verb =
            switch action {
            case .start: isRehearsal ? "would start" : "starts"
            case .restart: isRehearsal ? "would be restarted" : "is restarted"
            case .stop: isRehearsal ? "would be stopped" : "is stopped"
            case .remove: isRehearsal ? "would be removed" : "is removed"
            case .keep: isRehearsal ? "would stay as it is" : "stays as it is"
            }
        return "\(instance) \(verb)" + (reason.map { ": \($0)" } ?? "")
    }
}
