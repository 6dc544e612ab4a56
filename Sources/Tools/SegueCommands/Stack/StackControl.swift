internal import Compose

/// Asks a project's supervisor for something, and shows a person what comes of it.
struct StackControl {
    let project: Project
    /// Whether only to tell what would be done.
    var isRehearsal = false

    /// - Parameter waits: whether to return only when all that was asked for has come about.
    /// - Returns: whether there is a supervisor.
    /// - Throws: ``ComposeError``.
    func perform(_ request: ControlRequest, waits: Bool = true) async throws -> Bool {
        let client = ControlClient(project: project)
        guard let changes = try await client.send(request, isRehearsal: isRehearsal) else { return false }
        await tell(changes)
        if waits, !isRehearsal {
            let kept = Set(changes.filter { $0.action == .keep }.map(\.instance))
            try await project.follow(changes) { instance in
                if !kept.contains(instance.name) { await Console.error.tell("\(instance.name) \(instance.summary)") }
            }
        }
        return true
    }

    /// As ``perform(_:waits:)``; where nobody supervises, a supervisor is started in the background.
    ///
    /// - Parameter start: what that one begins with.
    func perform(_ request: ControlRequest, waits: Bool = true, orStart start: () async throws -> Void) async throws {
        while true {
            do {
                if try await perform(request, waits: waits) { return }
                return try await start()
            } catch let error as ComposeError where error.code == "stopping" {
                // The project is being taken down, or has ended by itself: afterwards it can be started anew.
                try await project.supervisorHasEnded()
            } catch let error as ComposeError where error.code == "already-running" {
                // Somebody else was faster, and has the supervisor that we need.
                try await Task.sleep(for: .milliseconds(20))
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
