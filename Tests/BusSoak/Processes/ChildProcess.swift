internal import Foundation
internal import Glibc
internal import Subprocess
internal import SystemPackage

/// One run of one process, with its output in a log file of its own.
package final class ChildProcess: Sendable {
    package let name: String
    let command: [String]
    let environment: [String: String]
    let logPath: String
    private let pidWhenStarted = OneShot<Int32?>()
    private let whenEnded = OneShot<ProcessEnd>()

    init(name: String, command: [String], environment: [String: String], logPath: String) {
        self.name = name
        self.command = command
        self.environment = environment
        self.logPath = logPath
    }

    /// Runs it to its end; cancelled, kills it.
    func run() async {
        whenEnded.set(await runToEnd())
        pidWhenStarted.set(nil)
    }

    /// It will not be run any more.
    func abandon() {
        whenEnded.set(.notStarted("the test is over"))
        pidWhenStarted.set(nil)
    }

    private func runToEnd() async -> ProcessEnd {
        var platform = PlatformOptions()
        // A Ctrl-C at the terminal is for the test alone, which then ends all in order.
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

    /// Its number; waits until it has been started.
    /// - Throws: ``NotStarted`` if it could not be started.
    package var pid: Int32 {
        get async throws {
            guard let pid = await pidWhenStarted.value else { throw NotStarted(name: name, end: await end) }
            return pid
        }
    }

    /// How it ended; waits for that.
    package var end: ProcessEnd {
        get async { await whenEnded.value }
    }

    package var hasEnded: Bool { whenEnded.valueNow != nil }

    /// Nothing, if it has ended.
    package func send(_ signal: Int32) async throws {
        let pid = try await pid
        if !hasEnded { kill(pid, signal) }
    }
}
