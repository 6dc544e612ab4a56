internal import Contracts
internal import EventBus
internal import Foundation
internal import Glibc
internal import Logging
internal import Navigation
internal import Transports

/// Measures coordinators that share many sessions: what a tap costs, how long its answer takes, and how long partitions
/// are without an owner after a coordinator was killed.
///
/// The sessions are not launched one by one. Their states are published as documents, as if coordinators had done it.
struct SessionScale {
    struct Options: Sendable {
        var count: Int
        var coordinators: Int
        /// The maximum number of sessions in the memory of a coordinator. Nil for the coordinator's own default.
        var liveSessions: Int?
        /// The number of taps per second, at random sessions.
        var rate: Int
        var duration: Duration
        var durability: BenchmarkDurability
        var bus: MeasuredBus
    }

    /// The time within which all taps are answered after the last one. A measurement without all answers fails.
    private static let patience: Duration = .seconds(60)
    private static let batchCount = 512
    private static let pageCount = 1024
    /// A generous estimate of what the journal needs for a session and for a tap, in bytes.
    private static let sessionSize = 4096
    private static let tapSize = 8192

    private let options: Options
    private let scratch: Scratch
    private let app: TabApp

    init(_ options: Options, _ scratch: Scratch) throws {
        self.options = options
        self.scratch = scratch
        app = try TabApp()
    }

    private func name(_ number: Int) -> String { "user-\(number)" }

    func measure() async throws -> SessionReport {
        try checkDisk()
        let broker = try BusProcess(scratch, kind: options.bus, durability: options.durability)
        let flow = "\(broker.directory)/flow.yaml"
        try TabApp.yaml.write(toFile: flow, atomically: true, encoding: .utf8)
        return try await broker.run { running in
            let bus = try BusFactory.standard.bus(
                at: broker.fullAddress, source: "benchmark/1",
                logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
            return try await bus.whileOpen {
                try await seed(bus)
                let seeded = try await bus.inspect.newest(matching: [.all])
                var report = SessionReport(options)
                try await runCoordinators(broker, flow) { coordinators in
                    let taps = Taps(app, on: bus)
                    try await taps.receive {
                        try await load(taps, bus: running.processes, coordinators: coordinators, into: &report)
                        report.journalSize = broker.journalSize
                        report.takeover = try await measureTakeover(taps, from: coordinators[0])
                        for (index, survivor) in coordinators.enumerated().dropFirst() {
                            report.coordinatorMemory[index] = try ProcessUse(of: survivor.id).peakMemory
                        }
                    }
                }
                report.differing = try await differences(bus, after: seeded)
                return report
            }
        }
    }

    /// - Throws: ``BenchmarkError`` if the journal may not fit on the disk.
    private func checkDisk() throws {
        var disk = statvfs()
        guard statvfs(scratch.path, &disk) == 0 else { return }
        let free = Int(disk.f_bavail) * Int(disk.f_frsize)
        let taps = Int(options.duration / .seconds(1)) * options.rate
        let needed = options.count * Self.sessionSize + taps * Self.tapSize
        guard free > needed else {
            throw BenchmarkError(
                "the journal may need \(needed >> 20) MiB, and \(scratch.path) has \(free >> 20) MiB; free some space")
        }
    }

    private func seed(_ bus: EventBus) async throws {
        for start in stride(from: 0, to: options.count, by: Self.batchCount) {
            let numbers = start..<min(start + Self.batchCount, options.count)
            try await bus.publish(Batch(try numbers.map { try app.document(of: name($0)) }))
        }
    }

    /// Runs all coordinators while `body` runs.
    private func runCoordinators(
        _ broker: BusProcess, _ flow: String, running: [RunningProcess] = [],
        _ body: ([RunningProcess]) async throws -> Void
    ) async throws {
        guard running.count < options.coordinators else { return try await body(running) }
        var arguments = ["--bus", broker.fullAddress, "--flow", flow]
        if let limit = options.liveSessions { arguments += ["--live-sessions", "\(limit)"] }
        let coordinator = ReadyProcess(
            name: "navigation-coordinator", arguments: arguments,
            directory: try scratch.folder("coordinator-\(running.count + 1)"))
        try await coordinator.run { process in
            try await runCoordinators(broker, flow, running: running + [process], body)
        }
    }

    // MARK: Load

    private func load(
        _ taps: Taps, bus: [RunningProcess], coordinators: [RunningProcess], into report: inout SessionReport
    ) async throws {
        // The partitions of the coordinators that started first move to the others as these join.
        try await tapEachPartition(taps)
        try await taps.waitUntilAnswered(within: Self.patience)
        _ = taps.drainLatencies()
        let processes = bus + coordinators
        let before = try processes.map { try ProcessUse(of: $0.id) }
        let count = taps.count
        var random = SystemRandomNumberGenerator()
        try await taps.send(options.rate, for: options.duration) {
            name(Int.random(in: 0..<options.count, using: &random))
        }
        try await taps.waitUntilAnswered(within: Self.patience)
        let after = try processes.map { try ProcessUse(of: $0.id) }
        report.taps = taps.count - count
        let spent = zip(before, after).map { ($1.processorTime - $0.processorTime) * 1000 / Double(report.taps) }
        report.brokerTime = spent.prefix(bus.count).reduce(0, +)
        report.coordinatorTime = spent.dropFirst(bus.count).reduce(0, +)
        report.brokerMemory = after.prefix(bus.count).map(\.peakMemory).max() ?? 0
        report.coordinatorMemory = after.dropFirst(bus.count).map(\.peakMemory)
        let latencies = taps.drainLatencies()
        report.median = Statistics.median(of: latencies)
        report.percentile99 = Statistics.percentile(99, of: latencies)
    }

    /// Sends a tap to one session in each partition that has sessions.
    private func tapEachPartition(_ taps: Taps) async throws {
        var partitions: Set<Partition> = []
        for session in (0..<min(options.count, 10_000)).lazy.map(name)
        where partitions.insert(Partition(subject: session)).inserted {
            try await taps.send(in: session)
        }
    }

    /// Kills a coordinator, and sends a tap to each partition.
    /// - Returns: the time in seconds from the kill until all taps are answered.
    private func measureTakeover(_ taps: Taps, from coordinator: RunningProcess) async throws -> Double {
        let begin = ContinuousClock.now
        kill(coordinator.id, SIGKILL)
        try await tapEachPartition(taps)
        try await taps.waitUntilAnswered(within: Self.patience)
        return (.now - begin) / .seconds(1)
    }

    // MARK: Checking

    /// The number of sessions whose document differs from the state of a machine that has handled the same inputs in
    /// the order of the journal.
    private func differences(_ bus: EventBus, after seeded: Position) async throws -> Int {
        let inputs = app.flow.messageTypes.compactMap(MessageType.init).map { MessageFilter.type($0) }
        let end = try await bus.inspect.newest(matching: inputs)
        var machines: [String: Machine] = [:]
        try await bus.withSubscription(to: inputs, from: .after(seeded), until: end, onNotice: nil) { messages in
            for try await message in messages {
                var machine = try machines[message.subject] ?? app.launched(message.subject)
                try app.handle(message, with: &machine)
                machines[message.subject] = machine
            }
        }
        var equal: Set<String> = []
        var offset: UInt64 = 0
        while true {
            let page = try await bus.documents(
                matching: [.type(Document.NavigationState.self)], after: offset, limit: Self.pageCount)
            for document in page {
                let snapshot = try document.decode(Document.NavigationState.self).snapshot
                let machine = try machines[document.subject] ?? app.launched(document.subject)
                if snapshot == machine.snapshot { equal.insert(document.subject) }
            }
            guard page.count == Self.pageCount, let last = page.last?.position?.offset else { break }
            offset = last
        }
        return (0..<options.count).count { !equal.contains(name($0)) }
    }
}

/// The figures of one measurement.
struct SessionReport: Encodable, Sendable {
    let sessions: Int
    let coordinators: Int
    /// Nil for the coordinator's own default.
    let liveSessions: Int?
    let rate: Int
    let durability: String
    let bus: String
    /// The number of copies of each message.
    let replicas: Int
    let configuration = BuildConfiguration.name
    let cores = ProcessInfo.processInfo.processorCount
    var taps = 0
    /// Processor time of all coordinators for a tap, in milliseconds.
    var coordinatorTime = 0.0
    /// Processor time of the broker for a tap, in milliseconds; on NATS of the servers and the steward together.
    var brokerTime = 0.0
    /// The time from a tap to the document that answers it, in milliseconds.
    var median = 0.0
    var percentile99 = 0.0
    /// The largest resident memory of each coordinator, in bytes.
    var coordinatorMemory: [Int] = []
    /// The largest resident memory of the broker, in bytes; on NATS of the largest server.
    var brokerMemory = 0
    /// The size of the journal's files, in bytes.
    var journalSize = 0
    /// The time in seconds from the kill of a coordinator until all partitions have answered.
    var takeover = 0.0
    /// The number of sessions whose state differs from a replay.
    var differing = 0

    init(_ options: SessionScale.Options) {
        sessions = options.count
        coordinators = options.coordinators
        liveSessions = options.liveSessions
        rate = options.rate
        durability = options.durability.rawValue
        bus = options.bus.scheme
        replicas = options.bus.replicas
    }
}
