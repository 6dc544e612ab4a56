import Foundation
import Glibc

/// Starts a supervisor that goes on without the process that started it.
package struct DetachedSupervisor: Sendable {
    private let project: Project
    /// Absolute.
    private let executable: String
    private let arguments: [String]
    private let environment: [String: String]
    private let input: String

    /// - Parameters:
    ///   - executable: what runs a ``Supervisor`` for this project; by default the running executable itself.
    ///   - environment: what the supervisor inherits.
    ///   - input: what it finds at its standard input.
    package init(
        project: Project,
        executable: String = "/proc/self/exe",
        arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: String = ""
    ) {
        self.project = project
        // The link must be read here: in the child it would already be the child's own.
        self.executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: executable)) ?? executable
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }

    /// Starts it in a session of its own, its output in ``Project/supervisorLogPath``.
    ///
    /// - Parameters:
    ///   - milestone: how far all services that are started must have come.
    ///   - onProgress: hears what the supervisor waits for.
    /// - Throws: ``ComposeError``: the supervisor's own, or `supervisor-ended` with the last lines of its log.
    ///   Cancelling stops the waiting, not the supervisor.
    package func start(
        until milestone: Milestone,
        onProgress: @Sendable (String) -> Void = { _ in }
    ) async throws {
        try RuntimeDirectory.make(project.stateDirectory)
        let runtimeRoot = (project.runtimeDirectory as NSString).deletingLastPathComponent
        try RuntimeDirectory.make(runtimeRoot)
        let socket = try NotifySocket(path: project.launchSocketPrefix + String(getpid()))
        let variables = environment.merging(["NOTIFY_SOCKET": socket.path]) { _, new in new }
        let logPath = project.supervisorLogPath
        let ownLog = SupervisorLog(path: logPath)
        let pid = try DetachedProcess.spawn(
            executable, arguments: arguments, environment: variables, input: input, logPath: logPath)
        do {
            try await wait(for: milestone, pid: pid, socket: socket, onProgress: onProgress)
        } catch WaitFailure.endedSilently {
            throw ComposeError(
                code: "supervisor-ended",
                message: "the supervisor of project '\(project.name)' ended before it was ready",
                recovery: "its log is \(logPath)",
                logTail: ownLog.tail
            )
        }
    }

    private func wait(
        for milestone: Milestone,
        pid: pid_t,
        socket: NotifySocket,
        onProgress: @Sendable (String) -> Void
    ) async throws {
        while let message = await next(socket, unlessEnded: pid) {
            if let failure = message.extensions[Launcher.failureField] {
                await ProcessSession(id: pid).waitForLeader()
                waitpid(pid, nil, 0)
                let error = try? JSONDecoder().decode(ComposeError.self, from: Data(failure.utf8))
                throw error ?? ComposeError(code: "supervisor", message: message.status ?? failure)
            }
            if let status = message.status { onProgress(status) }
            if message.isReady { return }
            if milestone == .launched, message.extensions[Launcher.launchedField] != nil { return }
        }
        try Task.checkCancellation()
        waitpid(pid, nil, 0)
        throw WaitFailure.endedSilently
    }

    private enum WaitFailure: Error {
        case endedSilently
    }

    /// - Returns: `nil` when the process has ended and said no more, or the task is cancelled.
    private func next(_ socket: NotifySocket, unlessEnded pid: pid_t) async -> NotifyMessage? {
        let message = await withTaskGroup(of: NotifyMessage?.self) { group in
            group.addTask { await socket.next() }
            group.addTask {
                await ProcessSession(id: pid).waitForLeader()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        // Its last words may have come together with its end.
        return message ?? socket.receive()
    }
}
