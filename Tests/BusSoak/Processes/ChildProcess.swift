internal import Foundation
internal import Glibc
internal import Subprocess
internal import Synchronization
internal import SystemPackage

/// One run of a process. Its output goes to a log file.
package final class ChildProcess: Sendable {
    package let name: String
    private let command: [String]
    private let environment: [String: String]
    private let logPath: String
    private let pidWhenStarted = OneShot<Int32?>()
    private let whenEnded = OneShot<ProcessEnd>()

    init(name: String, command: [String], environment: [String: String], logPath: String) {
        self.name = name
        self.command = command
        self.environment = environment
        self.logPath = logPath
    }

    /// Runs the process until it ends. Cancellation kills it.
    func run() async {
        whenEnded.set(await runToEnd())
        pidWhenStarted.set(nil)
    }

    /// Records that the process will not be started.
    func abandon() {
        whenEnded.set(.notStarted("the test is over"))
        pidWhenStarted.set(nil)
    }

    private func runToEnd() async -> ProcessEnd {
        var platform = PlatformOptions()
        // A Ctrl-C at the terminal must not reach the process.
        platform.processGroupID = 0
        let pairs = environment.compactMap { name, value in
            Environment.Key(rawValue: name).map { ($0, value as String?) }
        }
        do {
            let log = try FileDescriptor.open(
                logPath, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
            let result = try await Subprocess.run(
                .path(FilePath(command[0])), arguments: Arguments(Array(command.dropFirst())),
                environment: .inherit.updating(Dictionary(pairs) { first, _ in first }), platformOptions: platform,
                input: .none, output: .fileDescriptor(log, closeAfterSpawningProcess: true), error: .combinedWithOutput
            ) { execution in
                pidWhenStarted.set(execution.processIdentifier.value)
            }
            return switch result.terminationStatus {
            case .exited(let status): .exited(status)
            case .signaled(let signal): .signalled(signal)
            }
        } catch {
            return .notStarted("\(error)")
        }
    }

    /// The process id. Waits until the process has been started.
    /// - Throws: ``NotStarted`` if it could not be started.
    package var pid: Int32 {
        get async throws {
            guard let pid = await pidWhenStarted.value else { throw NotStarted(name: name, end: await end) }
            return pid
        }
    }

    /// The exit status. Waits until the process has ended.
    package var end: ProcessEnd {
        get async { await whenEnded.value }
    }

    package var hasEnded: Bool { whenEnded.valueNow != nil }

    /// Sends a signal. Does nothing if the process has ended.
    package func send(_ signal: Int32) async throws {
        let pid = try await pid
        if !hasEnded { kill(pid, signal) }
    }
}

/// The result of a process.
package enum ProcessEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// The process was never started.
    case notStarted(String)

    /// The status of a service that was asked to end and did not finish its work in time.
    static let unfinished = ProcessEnd.exited(70)
}

/// The error for a process that could not be started.
struct NotStarted: Error, CustomStringConvertible {
    let name: String
    let end: ProcessEnd

    var description: String { "\(name) could not be started: \(end)" }
}

/// A value that is set once, and the tasks that wait for it.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    /// Sets the value. Later calls have no effect.
    func set(_ value: Value) {
        let waiters = state.withLock { state in
            guard state.value == nil else { return [CheckedContinuation<Value, Never>]() }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the value, even if the task is cancelled.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state in
                    if state.value == nil { state.waiters.append(continuation) }
                    return state.value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    var valueNow: Value? { state.withLock(\.value) }
}

/// The paths of the executables.
enum Executable {
    /// The folder of the running executable.
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// - Parameter name: The name of an executable of this project, or an absolute path.
    static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : "\(directory)/\(name)"
    }
}
