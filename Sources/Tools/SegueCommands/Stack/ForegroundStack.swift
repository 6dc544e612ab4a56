internal import Compose
internal import Foundation
internal import Glibc
internal import Logging

/// A stack that runs for as long as this command does, before its user's eyes.
struct ForegroundStack {
    let stack: Stack
    let project: Project
    var selection = Selection.all
    let options: SuperviseOptions
    private let begin = Date()

    /// - Throws: ``ComposeError`` of the supervisor; `Errno` when the output cannot be written, after all has stopped.
    func run() async throws {
        var logger = Logger(label: "supervisor")
        // What it would say of its services is shown as a change of their state.
        logger.logLevel = .error
        let supervisor = try Supervisor(
            stack: stack, selection: selection, project: project,
            // A terminal that is closed sends SIGHUP; nothing must be left behind.
            options: options.supervisorOptions(stopSignals: [SIGINT, SIGTERM, SIGHUP]), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stopping(supervisor) { try await showLogs() } }
            group.addTask { try await stopping(supervisor) { try await showEvents() } }
            group.addTask { try await stopping(supervisor) { try await Console.output.waitForBrokenPipe() } }
            do {
                try await supervisor.run()
            } catch var error as ComposeError {
                group.cancelAll()
                try await group.waitForAll()
                // They are on the screen already.
                error.logTail = []
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// A stack that nobody can watch any more is stopped.
    private func stopping(_ supervisor: Supervisor, ifFails show: () async throws -> Void) async throws {
        do {
            try await show()
        } catch {
            supervisor.stop()
            throw error
        }
    }

    /// Follows the log files, not the services: a terminal that is stopped holds up no service, and no line is dropped.
    private func showLogs() async throws {
        var printer = LogPrinter(services: stack.services.flatMap(\.instances))
        for await line in try project.logs(since: begin) {
            try await printer.show(line)
        }
        try await printer.end()
    }

    private func showEvents() async throws {
        for await event in try project.events(since: begin) where event.instance != nil && event.action != .created {
            await Console.error.tell(event.line(in: project))
        }
    }
}
