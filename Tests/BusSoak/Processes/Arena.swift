package import BusChecker
package import EventBus
internal import Foundation
internal import Logging
package import NATSTestSupport
package import Navigation
internal import Support
internal import Synchronization
package import TestSupport
internal import Transports

/// The folder of one test, with a bus and real processes. The processes are ended with the test.
package final class Arena: Sendable {
    package let directory: String
    /// The address of the bus.
    package let bus: String
    /// The servers of a bus on NATS; nil if the bus has a broker.
    package let cluster: NATSCluster?
    let progress: Progress
    private let launches: AsyncStream<ChildProcess>.Continuation
    private let children = Mutex<[ChildProcess]>([])

    /// The default time limit of a wait.
    package static let deadline: Duration = .seconds(90)

    /// The namespace of a bus on NATS, which is also the name of its journal's stream.
    package static let namespace = "SEGUE"

    package var journal: String { "\(directory)/journal.sqlite" }

    private init(
        directory: String, cluster: NATSCluster?, launches: AsyncStream<ChildProcess>.Continuation
    ) throws {
        self.directory = directory
        self.cluster = cluster
        bus =
            if let cluster {
                Self.address(of: cluster.servers)
            } else {
                "ipc://\(directory)/bus"
            }
        self.launches = launches
        progress = try Progress(directory: directory)
    }

    /// The address of a bus that uses some servers.
    package static func address(of servers: [NATSServer]) -> String {
        "nats://" + servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",") + "/\(namespace)"
    }

    /// Runs `body` with a bus on three servers of NATS, which run already, or with a broker, which `body` starts.
    /// - Throws: ``ArenaFailure`` with the logs of all processes.
    package static func with<Result: Sendable>(
        _ engine: Engine, _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        switch engine {
        case .zeroMQ: try await with(body)
        case .nats: try await with(try NATSCluster(), body)
        }
    }

    /// Runs `body` with a bus on the servers of `cluster`.
    /// - Throws: ``ArenaFailure`` with the logs of all processes.
    package static func with<Result: Sendable>(
        _ cluster: NATSCluster, _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        do {
            return try await cluster.whileRunning { try await run(on: $0, body) }
        } catch let failure as NATSServer.Failure {
            var error: any Error = failure
            while let failure = error as? NATSServer.Failure { error = failure.error }
            // An error of the arena has the logs of the servers. A server that does not start has its log only here.
            throw error is ArenaFailure ? error : failure
        }
    }

    /// - Throws: ``ArenaFailure`` with the logs of all processes.
    package static func with<Result: Sendable>(
        _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        try await run(on: nil, body)
    }

    private static func run<Result: Sendable>(
        on cluster: NATSCluster?, _ body: @escaping @Sendable (Arena) async throws -> Result
    ) async throws -> Result {
        // The path is short because a socket's path has at most 107 bytes.
        let directory = "/tmp/segue-bus-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (stream, launches) = AsyncStream.makeStream(of: ChildProcess.self)
        let arena = try Arena(directory: directory, cluster: cluster, launches: launches)
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
                    // A task may wait for the end of this process.
                    await self.progress.check()
                }
            }
        }
        // Tasks that wait for a process that was never started must not wait for ever.
        for child in children.withLock({ $0 }) { child.abandon() }
    }

    /// Starts a process.
    /// - Parameters:
    ///   - name: The name of this run, which must be unique.
    ///   - command: The executable and its arguments. The executable is an absolute path, or the name of one next to
    ///     the test.
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

    /// Starts a process that writes a history.
    /// - Parameter bus: Another address of the same bus.
    package func startFixture(
        _ name: String, _ role: String, _ arguments: [String] = [], environment: [String: String] = [:],
        bus: String? = nil
    ) async throws -> ChildProcess {
        try await progress.follow(name, path: historyPath(of: name))
        let options = ["--bus", bus ?? self.bus, "--name", name, "--history", historyPath(of: name)]
        return try await start(name, ["bus-fixture", role] + options + arguments, environment: environment)
    }

    /// Starts a process that commits one result of its group for each value.
    package func startConsumer(
        _ name: String, group: String, mode: ConsumerMode = .exclusive
    ) async throws -> ChildProcess {
        let sharing = mode == .shared ? ["--shared"] : []
        return try await startFixture(name, "consume", ["--group", group] + sharing)
    }

    package func startBroker(_ name: String = "broker", environment: [String: String] = [:]) async throws
        -> ChildProcess
    {
        try await start(name, ["broker", "--bus", bus, "--journal", journal], environment: environment)
    }

    /// Starts a broker whose journal is on a disk of its own.
    package func startBroker(_ name: String = "broker", on disk: SmallDisk) async throws -> ChildProcess {
        let command = [Executable.path("broker"), "--bus", bus, "--journal", "\(disk.folder)/journal.sqlite"]
        return try await start(name, disk.command(command))
    }

    /// Starts a steward of the bus on NATS.
    package func startSteward(_ name: String) async throws -> ChildProcess {
        try await start(name, ["broker", "--bus", bus, "--replicas", "\(cluster?.servers.count ?? 1)"])
    }

    /// Starts a coordinator of the visits' flow. It keeps few machines in memory, so that it often restores sessions.
    func startCoordinator(_ name: String) async throws -> ChildProcess {
        let path = "\(directory)/flow.yaml"
        if !FileManager.default.fileExists(atPath: path) {
            try Visit.flow.write(toFile: path, atomically: true, encoding: .utf8)
        }
        return try await start(
            name, ["navigation-coordinator", "--bus", bus, "--flow", path, "--live-sessions", "2"])
    }

    /// All processes that were started, also those that have ended.
    package var processes: [ChildProcess] { children.withLock(\.self) }

    func historyPath(of name: String) -> String { "\(directory)/\(name).history" }

    package func failure(_ reason: String) -> ArenaFailure {
        var logs = children.withLock { $0 }.map { "== \($0.name)\n\(log(of: $0.name))" }
        for server in cluster?.servers ?? [] {
            let lines = server.log.split(separator: "\n").suffix(200)
            logs.append("== \(server.name)\n" + lines.joined(separator: "\n"))
        }
        return ArenaFailure(reason: reason, logs: logs.joined(separator: "\n"))
    }

    /// Runs `body` with a bus that the test itself uses.
    package func withBus<Result: Sendable>(
        deadline: Duration = Arena.deadline, _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        let logger = Logger.silent
        let bus = try BusFactory.standard.bus(at: self.bus, source: "test/\(UUID().uuidString)", logger: logger)
        return try await bus.whileOpen {
            try await self.within(deadline, "the bus did not do what it should") { try await body(bus) }
        }
    }

    /// Waits until some more messages are acknowledged.
    package func waitUntilAcknowledged(_ count: Int, more what: String) async throws {
        let before = await progress.current().values.reduce(0) { $0 + $1.acknowledged }
        try await until("\(count) more messages are acknowledged \(what)") { counts in
            counts.values.reduce(0) { $0 + $1.acknowledged } >= before + count
        }
    }

    /// Waits until the counts satisfy a condition. The condition is checked whenever a process has written to its
    /// history or log, or has ended.
    /// - Parameter what: A description of the condition for the failure.
    /// - Throws: ``ArenaFailure`` if the condition is not satisfied before the deadline.
    package func until(
        _ what: String, deadline: Duration = Arena.deadline,
        _ fits: @escaping @Sendable ([String: Counts]) throws -> Bool
    ) async throws {
        try await within(deadline, "it did not come true that \(what)") { try await self.progress.until(fits) }
    }

    /// Waits until the log of a process satisfies a condition.
    package func waitUntilLog(
        of name: String, _ what: String, _ fits: @escaping @Sendable (String) -> Bool
    ) async throws {
        try await until("the log of \(name) \(what)") { _ in fits(self.log(of: name)) }
    }

    /// Waits until a process has ended.
    @discardableResult
    package func waitUntilEnd(of child: ChildProcess, deadline: Duration = Arena.deadline) async throws -> ProcessEnd {
        // Cancelling the wait would not end the process, so it is killed.
        try await withThrowingTaskGroup(of: ProcessEnd?.self) { group in
            group.addTask { await child.end }
            group.addTask {
                try await Task.sleep(for: deadline)
                try await child.send(9)
                return nil
            }
            defer { group.cancelAll() }
            guard let end = try await group.next() ?? nil else {
                throw failure("\(child.name) did not end within \(deadline)")
            }
            return end
        }
    }

    /// Asks processes to end that have not ended (SIGTERM), and waits until they have.
    /// - Throws: ``ArenaFailure`` if one ends with an error.
    package func end(_ children: [ChildProcess]) async throws {
        let running = children.filter { !$0.hasEnded }
        for child in running { try await child.send(15) }
        for child in running where try await waitUntilEnd(of: child) != .exited(0) {
            throw failure("\(child.name) ended with an error: \(await child.end)")
        }
    }

    /// - Throws: ``ArenaFailure`` if `body` takes longer.
    package func within<Result: Sendable>(
        _ deadline: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withTimeLimit(deadline, orThrow: failure("\(what) within \(deadline)"), body)
    }

    /// The log of a process so far.
    package func log(of name: String) -> String {
        (try? String(contentsOfFile: "\(directory)/\(name).log", encoding: .utf8)) ?? ""
    }

    /// The history of a process so far.
    package func history(of name: String) -> [HistoryLine] {
        let text = (try? String(contentsOfFile: historyPath(of: name), encoding: .utf8)) ?? ""
        // A last line without a line feed may be incomplete although it looks valid.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { HistoryLine($0) }
    }

    /// The messages of the current journal that a subscriber has received so far.
    package func deliveries(to name: String) -> [BusChecker.Delivery] {
        let lines = history(of: name)
        return lines.suffix(from: lines.lastIndex(of: .live) ?? 0).compactMap { line in
            if case .delivered(let delivery) = line { delivery } else { nil }
        }
    }

    /// The values of a publisher that were acknowledged so far, each with the epoch of its position, in their order.
    package func acknowledgements(of name: String) -> [(value: Value, epoch: UInt64)] {
        history(of: name).compactMap { line in
            if case .acknowledged(let value, let epoch) = line { (value, epoch) } else { nil }
        }
    }

    /// The values of a publisher that were acknowledged so far.
    package func acknowledged(by name: String) -> Set<Value> { Set(acknowledgements(of: name).map(\.value)) }

    /// The values that a publisher has passed to the bus so far.
    package func invoked(by name: String) -> Set<Value> {
        Set(
            history(of: name).compactMap { line in
                if case .invoked(let value, document: _) = line { value } else { nil }
            })
    }

    /// The counts of all processes so far.
    package func counts() async -> [String: Counts] { await progress.current() }

    package func counts(of name: String) async -> Counts {
        await progress.current()[name] ?? Counts()
    }

    /// The histories of the processes and the content of the journal, after all processes have had time to receive
    /// everything.
    /// - Parameters:
    ///   - readers: The subscribers that still run.
    ///   - flow: The flow of the coordinators; nil if there are none.
    ///   - hasTimers: True if services with timers took part.
    ///   - whenSettled: Called before the journal is read.
    package func history(
        publishers: [String], groups: Set<String>, readers: [String], flow: Flow? = nil, hasTimers: Bool = false,
        whenSettled: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> History {
        var history = History()
        for publisher in publishers { history.add(self.history(of: publisher)) }
        history.groups = groups
        (history.journal, history.navigation, history.timers) = try await withBus(deadline: .seconds(600)) { bus in
            try await self.settle(groups, readers, on: bus)
            if let flow { await self.waitUntilSettled(NavigationReplay(flow: flow), "sessions waited", on: bus) }
            if hasTimers { await self.waitUntilSettled(TimerReplay(), "timers were open", on: bus) }
            try Task.checkCancellation()
            try await whenSettled()
            let timers = hasTimers ? try await bus.timers() : []
            guard let flow else { return (try await bus.journal(), nil, timers) }
            let navigation = NavigationHistory(flow: flow, entries: try await bus.navigation())
            return (try await bus.journal(), navigation, timers)
        }
        history.readers = readers.map { Reader(name: $0, deliveries: deliveries(to: $0), isComplete: true) }
        return history
    }

    /// Waits until all processes have received everything, or until no process makes progress.
    private func settle(_ groups: Set<String>, _ readers: [String], on bus: EventBus) async throws {
        let values = Set(try await bus.journal().compactMap(\.value))
        try? await whileGettingOn("results were missing") { try await bus.results(of: values, by: groups) }
        for reader in readers {
            try? await whileGettingOn("\(reader) did not get everything") {
                try await self.progress.until { counts in
                    // The set is expensive, so it is only compared when it may be complete.
                    (counts[reader]?.delivered ?? 0) >= values.count
                        && values.isSubset(of: self.deliveries(to: reader).map(\.value))
                }
            }
        }
    }

    private func waitUntilSettled(_ replay: some JournalReplay, _ what: String, on bus: EventBus) async {
        try? await whileGettingOn(what) { try await bus.waitUntilSettled(replay) }
    }

    /// Waits for `body` as long as any process handles or receives messages.
    private func whileGettingOn(_ what: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                var last = -1
                while case let now = await self.progress.total, now > last {
                    last = now
                    try await Task.sleep(for: .seconds(30))
                }
                throw self.failure("\(what), and no process made progress")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The engine of a bus.
package enum Engine: String, CaseIterable, Sendable {
    /// A broker on one machine.
    case zeroMQ = "zeromq"
    /// Three servers with three replicas, and two stewards.
    case nats
}

/// The failure of a test with real processes, and the logs of all processes.
package struct ArenaFailure: Error, CustomStringConvertible {
    /// The condition that was not satisfied, or the error.
    package let reason: String
    package let logs: String

    package var description: String { "\(reason)\n\n--- The processes ---\n\(logs)" }
}
