internal import Compose
internal import Foundation
internal import Support

/// A stack whose supervisor keeps running after this command has ended.
struct DetachedStack {
    let project: Project
    let stack: Stack
    /// The services to start.
    var selection = Selection.all
    /// Further arguments for the supervisor's command line.
    var arguments: [String] = []
    /// The environment of the supervisor.
    var environment = ProcessInfo.processInfo.environment
    /// True to stop the supervisor, which has no other owner, if the task of ``start(until:)`` is cancelled.
    var stopsIfCancelled = false
    /// True to print the output of the services until the milestone is reached.
    var isVerbose = false

    /// Starts the supervisor, and waits until the services have reached the milestone.
    /// - Throws: ``CommandError`` `unknown-service` if the selection names a service that is not in the stack; the
    ///   ``ComposeError`` of the supervisor.
    func start(until milestone: Milestone) async throws {
        try stack.check(selection.services, among: stack.services.flatMap { [$0.name] + $0.instances })
        let flags =
            arguments + (selection.includesDependencies ? [] : ["--no-deps"]) + (milestone == .ready ? ["--wait"] : [])
        let supervisor = DetachedSupervisor(
            project: project, arguments: ["supervise", "-p", project.name] + flags + selection.services,
            environment: environment, input: try stack.text, stopsIfCancelled: stopsIfCancelled)
        try await StartProgress(project: project, isVerbose: isVerbose).show { onProgress in
            try await supervisor.start(until: milestone, onProgress: onProgress)
        }
        let state = milestone == .ready ? "is up" : "is starting"
        let bus = try project.busAddress
        await Console.error.tell("project '\(project.name)' \(state), its bus is \(bus)")
    }
}

/// Prints the progress of a start: a status line with the services that are not ready yet, and a line for each service
/// that becomes ready or unhealthy, ends or restarts.
struct StartProgress {
    let project: Project
    /// True to print the output of the services, and when each starts.
    let isVerbose: Bool
    private let begin = Date()
    private let line = WaitingLine(Console.error)

    /// Prints the progress while `start` runs.
    ///
    /// - Parameter start: starts the services, and calls `onProgress` with the text of the status line.
    /// - Throws: the errors of `start`; an error if the project's files cannot be read.
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

/// Prints lines for a person, and below them a status line with the services that are not ready yet.
///
/// On a terminal, the status line is overwritten. Elsewhere, only the first status is printed.
actor WaitingLine {
    private let console: Console
    /// The status line. Nil if there is none.
    private var text: String?

    init(_ console: Console) {
        self.console = console
    }

    func wait(_ text: String) async {
        if console.isTerminal {
            // A status that is longer than a row could not be overwritten.
            let row = String(text.printable.prefix((console.columns ?? 80) - 1))
            self.text = row
            try? await console.draw("\(TerminalCode.beginLine)\(row)")
        } else if self.text == nil {
            self.text = text
            await console.tell(text)
        }
    }

    /// - Parameter isOwn: true for a line of this program, which is prefixed with its name; false for a service's
    ///   output.
    func tell(_ line: String, isOwn: Bool = true) async {
        let shown = isOwn ? "\(line)" : TerminalText(coloredLine: line, isColored: console.isColored)
        guard console.isTerminal, let text else {
            return isOwn ? await console.tell(line) : await draw("\(shown)\n")
        }
        await draw("\(TerminalCode.beginLine)\(isOwn ? "segue: " : "")\(shown)\n\(text)")
    }

    /// Removes the status line.
    func end() async {
        if console.isTerminal, text != nil { await draw(TerminalCode.beginLine) }
        text = nil
    }

    /// Writes a text. Ignores errors.
    private func draw(_ text: TerminalText) async {
        try? await console.draw(text)
    }
}
