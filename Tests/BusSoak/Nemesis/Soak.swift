internal import BusChecker
internal import FlowFiles
internal import Navigation

/// Rounds one after another, each with the next seed, until the time is over or one of them finds something.
package struct Soak: Sendable {
    private let engine: Engine
    private let seed: UInt64
    private let shape: NemesisPlan.Shape
    private let duration: Duration

    package init(engine: Engine, seed: UInt64, shape: NemesisPlan.Shape, duration: Duration) {
        self.engine = engine
        self.seed = seed
        self.shape = shape
        self.duration = duration
    }

    /// - Parameter say: Called with each line of output, or with a failure of many lines, as soon as it is known.
    /// - Returns: The sum of all rounds.
    package func run(say: (String) -> Void) async throws -> SoakReport {
        let start = ContinuousClock.now
        var sum = SoakReport(engine: engine, seed: seed, shape: shape)
        var round = seed
        repeat {
            let report =
                shape == .damage
                ? try await DamageRound(engine: engine, seed: round).run()
                : try await SoakRound(engine: engine, seed: round, shape: shape).run()
            say("\(report)")
            sum.add(report)
            round &+= 1
        } while ContinuousClock.now - start < duration && sum.findings.isEmpty
        say("in all, from \(sum.summary)")
        return sum
    }
}

/// One round: a bus and its processes, under the faults of a ``NemesisPlan``.
package struct SoakRound: Sendable {
    package let engine: Engine
    package let seed: UInt64
    package let shape: NemesisPlan.Shape

    package init(engine: Engine = .zeroMQ, seed: UInt64, shape: NemesisPlan.Shape) {
        self.engine = engine
        self.seed = seed
        self.shape = shape
    }

    /// Runs the round. Errors of the bus are in the report and are not thrown.
    package func run() async throws -> SoakReport {
        do {
            return try await Arena.with(engine) { arena in
                let crew = Crew(arena: arena)
                return try await withThrowingTaskGroup(of: SoakReport?.self) { group in
                    group.addTask {
                        try await crew.watchBroker()
                        return nil
                    }
                    group.addTask { try await run(crew, arena) }
                    defer { group.cancelAll() }
                    while let result = try await group.next() {
                        if let result { return result }
                    }
                    throw CancellationError()
                }
            }
        } catch let failure as ArenaFailure {
            var report = SoakReport(engine: engine, seed: seed, shape: shape)
            (report.findings, report.logs) = ([failure.reason], failure.logs)
            return report
        }
    }

    private func run(_ crew: Crew, _ arena: Arena) async throws -> SoakReport {
        for member in Member.started(on: engine) { try await crew.start(member) }
        for step in NemesisPlan(engine: engine, seed: seed, shape: shape).steps {
            try await arena.until("\(step.at) messages were acknowledged") { counts in
                counts.values.reduce(0) { $0 + $1.acknowledged } >= step.at
            }
            try await crew.perform(step)
        }
        return try await report(try await drain(crew, arena), crew, arena)
    }

    /// Lets all processes finish.
    private func drain(_ crew: Crew, _ arena: Arena) async throws -> History {
        let members = Member.started(on: engine)
        try await crew.restoreServers()
        try await crew.end(members.filter(\.hasValues))
        try await crew.settle()
        let incarnations = await crew.incarnations
        let readers = incarnations.filter(\.key.isSubscriber).values
        var history = try await arena.history(
            publishers: incarnations.filter(\.key.hasValues).values.flatMap(\.self),
            groups: Set(members.compactMap(\.group)), readers: readers.compactMap(\.last),
            flow: Flow(yaml: Visit.flow, file: "soak"), hasTimers: true
        ) {
            // No message is published any more.
            try await crew.end(members.filter { !$0.isOfBus && !$0.hasValues })
        }
        history.navigation?.changes = await crew.changes.sorted { $0.time < $1.time }
        try await crew.end(members.filter(\.isOfBus))
        history.readers += readers.flatMap { $0.dropLast() }.map {
            Reader(name: $0, deliveries: arena.deliveries(to: $0), isComplete: false)
        }
        return history
    }

    private func report(_ history: History, _ crew: Crew, _ arena: Arena) async throws -> SoakReport {
        var report = SoakReport(engine: engine, seed: seed, shape: shape)
        report.apply(history)
        report.states = history.navigation?.stateCount ?? 0
        report.deadlines = history.navigation?.reportCount ?? 0
        report.longestWait = history.navigation?.longestWait ?? 0
        report.timers = history.timerReplay.count
        let tally = await crew.tally
        (report.kills, report.stops, report.restarts) = (tally.kills, tally.stops, tally.restarts)
        (report.serverFaults, report.stewardFaults) = (tally.serverFaults, tally.stewardFaults)
        report.findings = await crew.surprises + Checker.findings(in: history).map(\.description)
        report.logs = report.findings.isEmpty ? "" : arena.failure("").logs
        return report
    }
}

/// The results of a round.
package struct SoakReport: Sendable {
    private let engine: Engine
    package let seed: UInt64
    private let shape: NemesisPlan.Shape
    /// A description of the only fault; nil if there are several.
    private let fault: String?
    package var published = 0
    package var acknowledged = 0
    package var delivered = 0
    package var consumed = 0
    /// The number of states that coordinators published.
    package var states = 0
    /// The number of deadlines whose end coordinators reported.
    package var deadlines = 0
    /// The number of timers that were published.
    package var timers = 0
    /// The longest time in milliseconds that an input waited for its state while no fault happened.
    package var longestWait = 0
    package var kills = 0
    package var stops = 0
    package var restarts = 0
    /// The kills and stops of servers of NATS.
    package var serverFaults = 0
    /// The kills and stops of stewards.
    package var stewardFaults = 0
    package var findings: [String] = []
    /// The logs of all processes.
    package var logs = ""

    init(engine: Engine, seed: UInt64, shape: NemesisPlan.Shape, fault: String? = nil) {
        self.engine = engine
        self.seed = seed
        self.shape = shape
        self.fault = fault
    }

    /// Sets the counts that a history has.
    mutating func apply(_ history: History) {
        published = history.invoked.count
        acknowledged = history.acknowledged.count
        delivered = history.readers.reduce(0) { $0 + $1.deliveries.count }
        consumed = history.journal.filter { $0.value == nil }.count
    }

    /// A summary on one line.
    package var summary: String {
        let faults =
            fault ?? "states \(states), deadlines \(deadlines), timers \(timers), longest wait \(longestWait) ms, "
            + "kills \(kills), stops \(stops), restarts \(restarts)"
        return "seed \(seed): published \(published), acknowledged \(acknowledged), delivered \(delivered), "
            + "consumed \(consumed), \(faults), findings \(findings.count)"
    }

    /// Adds the counts of another round.
    package mutating func add(_ other: SoakReport) {
        published += other.published
        acknowledged += other.acknowledged
        delivered += other.delivered
        consumed += other.consumed
        states += other.states
        deadlines += other.deadlines
        timers += other.timers
        longestWait = max(longestWait, other.longestWait)
        kills += other.kills
        stops += other.stops
        restarts += other.restarts
        serverFaults += other.serverFaults
        stewardFaults += other.stewardFaults
        findings += other.findings
    }
}

extension SoakReport: CustomStringConvertible {
    package var description: String {
        guard !findings.isEmpty else { return summary }
        return """
            \(summary)
            \(findings.prefix(50).joined(separator: "\n"))
            To repeat: make soak ENGINE=\(engine.rawValue) SHAPE=\(shape.name) SEED=\(seed) SECONDS=1

            --- The processes ---
            \(logs)
            """
    }
}
