import Foundation
import Glibc
import Support
import SystemSupport

/// Starts a supervisor that continues after the process that started it has ended.
package struct DetachedSupervisor: Sendable {
    /// The maximum time for an orderly stop after a start that was cancelled.
    private static let patience: Duration = .seconds(20)

    private let project: Project
    private let executable: String
    private let arguments: [String]
    private let environment: [String: String]
    private let input: String
    private let stopsIfCancelled: Bool

    /// - Parameters:
    ///   - executable: the program that runs a ``Supervisor`` for this project; by default the running executable
    ///     itself.
    ///   - environment: the environment of the supervisor.
    ///   - input: the content of the supervisor's standard input.
    ///   - stopsIfCancelled: true to stop the supervisor if the task that starts it is cancelled.
    package init(
        project: Project,
        executable: String = "/proc/self/exe",
        arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: String = "",
        stopsIfCancelled: Bool = false
    ) {
        self.project = project
        // If the executable is a symbolic link, the file that it refers to is started.
        self.executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: executable)) ?? executable
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.stopsIfCancelled = stopsIfCancelled
    }

    /// Starts the supervisor in a session of its own, and waits until its services have reached a milestone. The
    /// supervisor's log messages are appended to ``Project/supervisorLogPath``.
    ///
    /// Cancelling the task ends the wait, but not the supervisor, unless `stopsIfCancelled` is set.
    ///
    /// - Parameters:
    ///   - milestone: the milestone that all services that are started must reach.
    ///   - onProgress: called with each progress message of the supervisor, such as `waiting for broker`.
    /// - Throws: ``ComposeError``: the supervisor's own error, or `supervisor-ended` with the last lines of its log;
    ///   `CancellationError`.
    package func start(
        until milestone: Milestone,
        onProgress: @Sendable (String) -> Void = { _ in }
    ) async throws {
        try ComposeError.makeFolder(project.stateDirectory)
        try ComposeError.makeFolder((project.runtimeDirectory as NSString).deletingLastPathComponent)
        let socket = try project.notifySocket(at: project.launchSocketPrefix + String(getpid()))
        var variables = environment
        // A supervisor that a service starts must not end with that service.
        variables[ProcessTag.variable] = nil
        variables["NOTIFY_SOCKET"] = socket.path
        let logPath = project.supervisorLogPath
        let logStart = (try? FileHandle(forReadingAtPath: logPath)?.seekToEnd()) ?? 0
        let pid = try DetachedProcess.spawn(
            executable, arguments: arguments, environment: variables, input: input, logPath: logPath)
        let hasReached: Bool
        do {
            hasReached = try await wait(for: milestone, pid: pid, socket: socket, onProgress: onProgress)
        } catch let error as CancellationError {
            if stopsIfCancelled { await stop(pid) }
            throw error
        }
        guard hasReached else {
            throw ComposeError(
                code: "supervisor-ended",
                message: "the supervisor of project '\(project.name)' ended before it was ready",
                recovery: "see its log \(logPath)",
                logTail: lastLines(of: logPath, from: logStart)
            )
        }
    }

    /// Asks the supervisor to stop, and kills it after ``patience``; returns when it has ended.
    ///
    /// ``Project/stop(timeout:)`` alone would not find a supervisor that does not hold the project's lock yet.
    private func stop(_ pid: pid_t) async {
        // In this task, which is cancelled, the supervisor would be killed at once.
        await Task { await ProcessSession(id: pid).terminate(signal: .terminate, grace: Self.patience) }.value
        waitpid(pid, nil, 0)
    }

    /// The last 20 lines of a log after an offset, each cut to 500 characters. The lines before the offset are from
    /// earlier runs.
    private func lastLines(of path: String, from start: UInt64) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        try? file.seek(toOffset: start)
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.lines.filter { !$0.isEmpty }.suffix(20).map { String($0.prefix(500)) }
    }

    /// - Returns: false if the supervisor has ended without a message that it is ready or has failed.
    private func wait(
        for milestone: Milestone,
        pid: pid_t,
        socket: NotifySocket,
        onProgress: @Sendable (String) -> Void
    ) async throws -> Bool {
        while let message = await next(socket, unlessEnded: pid) {
            if let failure = message.extensions[Launcher.failureField] {
                await ProcessSession(id: pid).waitForLeader()
                // The wait also returns when this task is cancelled. `waitpid` would then block its thread.
                try Task.checkCancellation()
                waitpid(pid, nil, 0)
                let error = try? JSONDecoder().decode(ComposeError.self, from: Data(failure.utf8))
                throw error ?? ComposeError(code: "supervisor", message: message.status ?? failure)
            }
            if let status = message.status { onProgress(status) }
            if message.isReady { return true }
            if milestone == .launched, message.extensions[Launcher.launchedField] != nil { return true }
        }
        try Task.checkCancellation()
        waitpid(pid, nil, 0)
        return false
    }

    /// - Returns: nil if the process has ended and all its messages have been read, or if the task is cancelled.
    private func next(_ socket: NotifySocket, unlessEnded pid: pid_t) async -> NotifyMessage? {
        while true {
            if let message = socket.receive() { return message }
            // The first operation only waits and does not read. If both operations end at the same time, one result is
            // dropped, and a message in that result would be lost.
            let hasEnded = await firstResult(
                of: {
                    await socket.wait(until: nil)
                    return false
                },
                {
                    await ProcessSession(id: pid).waitForLeader()
                    return true
                })
            // The last message of the supervisor may have arrived just before the supervisor ended.
            if hasEnded || Task.isCancelled { return socket.receive() }
        }
    }
}

/// The process that started the supervisor and waits for its messages (sd_notify(3)): a ``DetachedSupervisor`` or
/// systemd.
struct Launcher: Sendable {
    fileprivate static let failureField = "X_SEGUE_ERROR"
    fileprivate static let launchedField = "X_SEGUE_LAUNCHED"

    /// The maximum time for which a launcher that does not read can delay a message. After it, the message is dropped.
    private static let patience: Duration = .seconds(1)

    private let notifier: Notifier
    private let executor = BlockingExecutor("launcher")

    init(environment: [String: String]) {
        notifier = Notifier(socketPath: environment["NOTIFY_SOCKET"])
    }

    func tellReady() async {
        await send(NotifyMessage(isReady: true, status: "all services are up"))
    }

    func tellLaunched() async {
        await send(NotifyMessage(extensions: [Self.launchedField: "1"]))
    }

    func tell(status: String) async {
        await send(NotifyMessage(status: status))
    }

    /// Sends an error as a line of JSON, so that the launcher can show the error unchanged.
    func tell(failure: any Error) async {
        let error = failure as? ComposeError ?? ComposeError(code: "supervisor", message: "\(failure)")
        let encoded = (try? JSONEncoder().encode(error)).map { String(decoding: $0, as: UTF8.self) }
        await send(
            NotifyMessage(
                isStopping: true, status: error.message, extensions: encoded.map { [Self.failureField: $0] } ?? [:]))
    }

    private func send(_ message: NotifyMessage) async {
        await executor.run { [notifier] in notifier.notify(message, patience: Self.patience) }
    }
}
