package import EventBus
internal import Foundation
internal import Synchronization

/// A folder of one test's own with a bus in it, and real processes, which are gone when the test is.
package final class Arena: Sendable {
    package let directory: String
    let progress: Progress
    private let launches: AsyncStream<ChildProcess>.Continuation
    private let children = Mutex<[ChildProcess]>([])

    /// How long anything is waited for. A working test comes nowhere near it.
    package static let deadline: Duration = .seconds(90)

    package var bus: String { "ipc://\(directory)/bus" }
    package var journal: String { "\(directory)/journal.sqlite" }

    private init(directory: String, launches: AsyncStream<ChildProcess>.Continuation) throws {
        self.directory = directory
        self.launches = launches
        progress = try Progress(directory: directory)
    }

    /// - Throws: ``ArenaFailure`` with every process's log.
    package static func with<Result: Sendable>(
        _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        // Short: a socket's path has at most 107 bytes.
        let directory = "/tmp/segue-bus-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (stream, launches) = AsyncStream.makeStream(of: ChildProcess.self)
        let arena = try Arena(directory: directory, launches: launches)
        do {
            return try await arena.run(stream, body)
        } catch let error as ArenaFailure {
            throw error
        } catch {
            throw arena.failure("\(error)")
        }
    }

    private func run<Result: Sendable>(
        _ stream: AsyncStream<ChildProcess>, _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                await self.runChildren(stream)
                return nil
            }
            group.addTask {
                await self.progress.run()
                return nil
            }
            group.addTask { try await body(self) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func runChildren(_ stream: AsyncStream<ChildProcess>) async {
        await withDiscardingTaskGroup { group in
            for await child in stream {
                group.addTask {
                    await child.run()
                    // A wait may be for its end.
                    await self.progress.look()
                }
            }
        }
        // Whoever waits for one that was not started any more must not wait for ever.
        for child in children.withLock({ $0 }) { child.abandon() }
    }

    /// Starts a process.
    /// - Parameters:
    ///   - name: of this run; no two runs have the same.
    ///   - command: the executable, beside the test unless it is a path, and its arguments.
    package func start(
        _ name: String, _ command: [String], environment: [String: String] = [:]
    ) async throws -> ChildProcess {
        let child = ChildProcess(
            name: name, command: [Executable.path(command[0])] + command.dropFirst(), environment: environment,
            logPath: "\(directory)/\(name).log")
        children.withLock { $0.append(child) }
        if case .terminated = launches.yield(child) { child.abandon() }
        _ = try await child.pid
        return child
    }

    /// Starts a process that writes down what it does.
    package func startFixture(
        _ name: String, _ role: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> ChildProcess {
        try await progress.follow(name, path: historyPath(of: name))
        let options = ["--bus", bus, "--name", name, "--history", historyPath(of: name)]
        return try await start(name, ["bus-fixture", role] + options + arguments, environment: environment)
    }

    /// Starts a process that commits one result of its group for each value.
    package func startConsumer(
        _ name: String, group: String, mode: ConsumerMember.Mode = .exclusive
    ) async throws -> ChildProcess {
        let sharing = mode == .shared ? ["--shared"] : []
        return try await startFixture(name, "consume", ["--group", group] + sharing)
    }

    package func startBroker(_ name: String = "broker", environment: [String: String] = [:]) async throws
        -> ChildProcess
    {
        try await start(name, ["broker", "--bus", bus, "--journal", journal], environment: environment)
    }

    func historyPath(of name: String) -> String { "\(directory)/\(name).history" }

    func failure(_ reason: String) -> ArenaFailure {
        let logs = children.withLock { $0 }.map { "== \($0.name)\n\(log(of: $0.name))" }
        return ArenaFailure(reason: reason, logs: logs.joined(separator: "\n"))
    }
}
