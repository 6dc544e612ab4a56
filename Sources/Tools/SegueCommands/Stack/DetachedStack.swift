internal import Compose
internal import Foundation

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

/// What a person sees while a stack comes up: who is waited for, and a line for each service that is ready.
struct StartProgress {
    let project: Project
    /// Whether what the services write is shown, too.
    let isVerbose: Bool
    private let begin = Date()
    private let line = WaitingLine(Console.error)

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

/// Lines for a person, below them one that says what is waited for.
///
/// On a terminal that one is written over; elsewhere it is told once, at the beginning.
actor WaitingLine {
    private let console: Console
    private var text: String?

    init(_ console: Console) {
        self.console = console
    }

    func wait(_ text: String) async {
        if console.isTerminal {
            // One that took more than a row could not be written over.
            let row = String(text.prefix((console.columns ?? 80) - 1))
            self.text = row
            try? await console.write(TerminalCode.beginLine + row)
        } else if self.text == nil {
            self.text = text
            await console.tell(text)
        }
    }

    /// - Parameter isOwn: whether it is this program that says so, and not a service.
    func tell(_ line: String, isOwn: Bool = true) async {
        guard console.isTerminal, let text else {
            return isOwn ? await console.tell(line) : await write(line + "\n")
        }
        await write(TerminalCode.beginLine + (isOwn ? "segue: " : "") + line + "\n" + text)
    }

    /// What is waited for has come, or never will.
    func end() async {
        if console.isTerminal, text != nil { await write(TerminalCode.beginLine) }
        text = nil
    }

    /// That nobody reads it is no reason to fail.
    private func write(_ text: String) async {
        try? await console.write(text)
    }
}
