internal import Compose
internal import Foundation

/// What a person sees while a stack comes up: who is waited for, and a line for each service that is ready.
struct StartProgress {
    let project: Project
    /// Whether what the services write is shown, too.
    let isVerbose: Bool
    private let begin = Date()
    private let line = WaitingLine(Console.error)

    init(project: Project, isVerbose: Bool) {
        self.project = project
        self.isVerbose = isVerbose
    }

    /// Shows it for as long as `start` runs, and then what had happened by its end.
    ///
    /// - Parameter start: is given what to tell of whom it waits for.
    /// - Throws: what `start` throws; that the project's files cannot be read.
    func show(_ start: (_ onProgress: @escaping @Sendable (String) -> Void) async throws -> Void) async throws {
        let (progress, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await step in progress { await line.wait(step) } }
            group.addTask { try await showEvents() }
            if isVerbose { group.addTask { try await showLogs() } }
            let result: Result<Void, any Error>
            do { result = .success(try await start { continuation.yield($0) }) } catch { result = .failure(error) }
            continuation.finish()
            group.cancelAll()
            try await group.waitForAll()
            await line.end()
            try result.get()
        }
    }

    private func showEvents() async throws {
        for await event in try project.events(since: begin) where isNews(event) {
            await line.tell(event.line(in: project))
        }
    }

    private func isNews(_ event: ProjectEvent) -> Bool {
        switch event.action {
        case .ready, .unhealthy, .exited, .restarting: true
        case .starting: isVerbose
        default: false
        }
    }

    private func showLogs() async throws {
        for await logLine in try project.logs(since: begin) {
            await line.tell("\(logLine.service) | \(logLine.text)", isOwn: false)
        }
    }
}
