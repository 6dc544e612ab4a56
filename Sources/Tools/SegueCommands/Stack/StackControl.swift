internal import Compose

/// Asks a project's supervisor for something, and shows a person what comes of it.
struct StackControl {
    let project: Project
    /// Whether only to tell what would be done.
    var isRehearsal = false

    /// How long somebody else may hold the project before anybody can be asked.
    private static let patience: Duration = .seconds(30)

    /// - Parameter milestone: how far those must have come that it starts.
    /// - Returns: whether there is a supervisor.
    /// - Throws: ``ComposeError``.
    func perform(_ request: ControlRequest, until milestone: Milestone = .ready) async throws -> Bool {
        let client = ControlClient(project: project)
        guard let changes = try await client.send(request, isRehearsal: isRehearsal) else { return false }
        await tell(changes)
        if !isRehearsal {
            let kept = Set(changes.filter { $0.action == .keep }.map(\.instance))
            try await project.follow(changes, until: milestone) { instance in
                if !kept.contains(instance.name) { await Console.error.tell("\(instance.name) \(instance.summary)") }
            }
        }
        return true
    }

    /// As ``perform(_:until:)``; where nobody supervises, a supervisor is started in the background.
    ///
    /// - Parameter start: what that one begins with.
    func perform(
        _ request: ControlRequest, until milestone: Milestone = .ready, orStart start: () async throws -> Void
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do {
                if try await perform(request, until: milestone) { return }
                return try await start()
            } catch let error as ComposeError where error.code == "stopping" {
                // The project is being taken down, or has ended by itself: afterwards it can be started anew.
                try await project.supervisorHasEnded()
            } catch let error as ComposeError where error.code == "already-running" && ContinuousClock.now < deadline {
                // Somebody else was faster, and has the supervisor that we need or is ending what another one left.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    func tell(_ changes: [Change]) async {
        let news = changes.filter { $0.action != .keep }
        await Console.error.tell(news.map { $0.line(isRehearsal: isRehearsal) })
        if news.isEmpty { await Console.error.tell("project '\(project.name)' stays as it is") }
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
