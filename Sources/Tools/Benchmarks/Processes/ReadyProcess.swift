internal import Foundation
internal import Subprocess
internal import Support
internal import SystemPackage
internal import SystemSupport

/// A process that has reported that it is ready.
struct RunningProcess: Sendable {
    let id: pid_t
    /// The time from the start of the process until it was ready.
    let startTime: Duration
}

/// A process of the stack that reports when it is ready.
struct ReadyProcess: Sendable {
    /// The name of the executable.
    let name: String
    let arguments: [String]
    /// The folder of the socket to which the process sends its notifications.
    let directory: String
    /// The path of the process's key file; nil for a bus without keys.
    var keyFile: String?

    /// Runs the process while `body` runs.
    /// - Throws: ``BenchmarkError`` if the process does not become ready, and the errors of `body`.
    func run<Result: Sendable>(_ body: (RunningProcess) async throws -> Result) async throws -> Result {
        let socket = try NotifySocket(path: "\(directory)/\(name).notify")
        let environment = Environment.inherit.updating([
            "NOTIFY_SOCKET": socket.path, "SEGUE_LOG_LEVEL": "warning", "SEGUE_BUS_CURVE": keyFile,
        ])
        return try await Self.run(
            try Executables.path(of: name), arguments, environment: environment, log: nil,
            untilReady: {
                while let message = await socket.next() {
                    if message.isReady { return true }
                }
                return false
            }, body)
    }

    /// Runs a process while `body` runs.
    /// - Parameters:
    ///   - log: The file to which the process writes its log. Nil for standard error.
    ///   - isReady: Waits until the process is ready. Returns false if it will not be.
    static func run<Result: Sendable>(
        _ executable: String, _ arguments: [String], environment: Environment = .inherit, log: String?,
        untilReady isReady: @escaping @Sendable () async -> Bool, _ body: (RunningProcess) async throws -> Result
    ) async throws -> Result {
        let configuration = Executables.configuration(
            executable, arguments, environment: environment, teardown: Self.teardown)
        let begin = ContinuousClock.now
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            guard await Self.isReady(isReady, execution.standardOutput) else {
                try Task.checkCancellation()
                let name = (executable as NSString).lastPathComponent
                let last = log.flatMap(Self.lastLine).map { ": \($0)" } ?? "; see its log above"
                throw BenchmarkError("'\(name)' ended, or was not ready within 120 s\(last)")
            }
            let process = RunningProcess(id: execution.processIdentifier.value, startTime: .now - begin)
            let result = try await body(process)
            await execution.teardown(using: Self.teardown)
            return result
        }
        return result.closureResult
    }

    private static let teardown = [TeardownStep.gracefulShutDown(allowedDurationToNextStep: .seconds(30))]

    private static func lastLine(of file: String) -> String? {
        (try? String(contentsOfFile: file, encoding: .utf8))?.lines.last { !$0.isEmpty }.map(String.init)
    }

    /// - Returns: False if the process ended, or was not ready after 120 seconds.
    private static func isReady(
        _ isReady: @escaping @Sendable () async -> Bool, _ output: SubprocessOutputSequence
    ) async -> Bool {
        let result = try? await withTimeLimit(.seconds(120)) {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask { await isReady() }
                group.addTask {
                    // The output of the process ends when the process ends.
                    do { for try await _ in output {} } catch {}
                    return false
                }
                defer { group.cancelAll() }
                return await group.next() ?? false
            }
        }
        return result ?? false
    }
}

/// The executables that a benchmark starts.
enum Executables {
    /// The path of the running executable.
    static var peer: String {
        get throws {
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
                throw BenchmarkError("the running executable cannot be found: /proc/self/exe cannot be read")
            }
            return path
        }
    }

    /// The path of an executable in the folder of the running executable.
    /// - Throws: ``BenchmarkError`` if there is no such executable.
    static func path(of name: String) throws -> String {
        let directory = (try peer as NSString).deletingLastPathComponent
        let path = "\(directory)/\(name)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchmarkError("there is no '\(name)' in \(directory); build it with 'swift build'")
        }
        return path
    }

    /// - Parameter teardown: The steps that end the process if the benchmark fails or is interrupted.
    static func configuration(
        _ executable: String, _ arguments: [String], environment: Environment = .inherit,
        teardown: [TeardownStep] = []
    ) -> Configuration {
        var options = PlatformOptions()
        // A new session, so that Ctrl-C in the terminal reaches only the benchmark, which then ends the other
        // processes.
        options.createSession = true
        options.teardownSequence = teardown
        return Configuration(
            executable: .path(FilePath(executable)), arguments: Arguments(arguments), environment: environment,
            platformOptions: options)
    }
}
