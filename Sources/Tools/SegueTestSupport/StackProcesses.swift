internal import Compose
internal import Foundation

/// The processes of a ``TestStack``, which may not be up yet.
struct StackProcesses: Sendable {
    let supervisor: Supervisor
    let project: Project
    let transcript = Transcript()
    /// The maximum time of each wait. Nil for the default.
    let deadline: Duration?
    /// The line of the test that runs the stack.
    let caller: Caller

    /// Runs `body` when all processes are ready. Returns when all have ended.
    /// - Throws: ``StackFailure`` with the file of all logs.
    func whileUp<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { processes in
            processes.addTask { try await supervisor.run() }
            var result: Swift.Result<Result, StackFailure>
            do {
                try await until("the processes to be ready", deadline, caller) { $0.phase == .up }
                result = .success(try await body())
            } catch {
                result = .failure(failure(error))
            }
            supervisor.stop()
            do {
                try await processes.waitForAll()
            } catch is CancellationError {
                // The failure above says so.
            } catch {
                result = .failure(failure(error))
            }
            return try result.mapError(withLogs).get()
        }
    }

    /// Waits until `fits` returns true for the status of the stack.
    /// - Parameter what: The condition in words, after "waited for".
    func until(
        _ what: String, _ deadline: Duration?, _ caller: Caller,
        _ fits: @escaping @Sendable (ProjectStatus) throws -> Bool
    ) async throws {
        try await within(deadline ?? self.deadline) {
            for await status in supervisor.statuses {
                if try fits(status) { return }
                if status.phase == .stopped { break }
            }
            try Task.checkCancellation()
            throw failure("the stack ended while the test waited for \(what)", at: caller)
        } orThrow: {
            failure("\($0) \(what)", at: caller)
        }
    }

    private func failure(_ reason: String, at caller: Caller) -> StackFailure {
        StackFailure(
            FailureReport(caller: caller, reason: reason, messages: transcript.messages, processes: observed))
    }

    private func failure(_ error: any Error) -> StackFailure {
        switch error {
        case let failure as StackFailure: failure
        case is CancellationError: failure("the test was cancelled, perhaps by its time limit", at: caller)
        default: failure("\(error)", at: caller)
        }
    }

    /// The failure with a file of all logs, also of the end of the processes.
    private func withLogs(_ failure: StackFailure) -> StackFailure {
        var failure = failure
        let logs = supervisor.status.services.map { ($0.name, lines(of: $0)) }
        failure.logFile = FailureFile.write(logs, messages: transcript.messages)
        return failure
    }

    func log(of service: String) -> String {
        project.writtenLines(of: service).map { $0.text + "\n" }.joined()
    }

    /// The number of lines that a failure shows of a log.
    private static let lineCount = 5

    /// The processes as a failure shows them, those that are not ready or were restarted first.
    var observed: [ObservedProcess] {
        let processes = supervisor.status.services.map { status in
            let isSuspect = status.state != .ready || status.restarts > 0
            return ObservedProcess(
                name: status.name, state: Self.state(of: status), isSuspect: isSuspect,
                lastLines: isSuspect ? lines(of: status).suffix(Self.lineCount) : [])
        }
        return processes.filter(\.isSuspect) + processes.filter { !$0.isSuspect }
    }

    private static func state(of status: InstanceStatus) -> String {
        let restarts = status.restarts == 0 ? "" : ", \(status.restarts) restart\(status.restarts == 1 ? "" : "s")"
        let reason = status.state == .ready ? "" : status.message.map { ": \($0)" } ?? ""
        return "\(status.state.rawValue)\(restarts)\(reason)"
    }

    private func lines(of status: InstanceStatus) -> [String] { project.writtenLines(of: status.name).map(\.text) }
}

/// A temporary folder of one test. Its path is short because it contains sockets.
struct ScratchDirectory {
    let path: String

    static func with<Result>(_ body: (ScratchDirectory) async throws -> Result) async throws -> Result {
        let path = "/tmp/segue-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(ScratchDirectory(path: path))
    }
}
