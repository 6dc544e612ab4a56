internal import BusChecker

/// One bus, from its first message to its last, under a nemesis.
package struct SoakRound: Sendable {
    package let seed: UInt64
    package let shape: NemesisPlan.Shape

    package init(seed: UInt64, shape: NemesisPlan.Shape) {
        self.seed = seed
        self.shape = shape
    }

    /// Never throws what went wrong with the bus: that is in the report.
    package func run() async throws -> SoakReport {
        do {
            return try await Arena.with { arena in
                let crew = Crew(arena: arena)
                for member in Member.all { try await crew.start(member) }
                for step in NemesisPlan(seed: seed, shape: shape).steps {
                    try await arena.until("\(step.at) messages were acknowledged") { counts in
                        counts.values.reduce(0) { $0 + $1.acknowledged } >= step.at
                    }
                    try await crew.perform(step)
                }
                return try await report(try await drain(crew, arena), crew, arena)
            }
        } catch let failure as ArenaFailure {
            var report = SoakReport(seed: seed, shape: shape)
            (report.findings, report.logs) = ([failure.reason], failure.logs)
            return report
        }
    }

    /// Lets everybody finish; who does not is found by the checker.
    private func drain(_ crew: Crew, _ arena: Arena) async throws -> History {
        try await crew.end(Member.all.filter(\.isPublisher))
        try await crew.settle()
        let incarnations = await crew.incarnations
        let readers = incarnations.filter(\.key.isSubscriber).values
        var history = try await arena.history(
            publishers: incarnations.filter(\.key.isPublisher).values.flatMap(\.self),
            groups: Set(Member.all.compactMap(\.group)), readers: readers.compactMap(\.last)
        ) {
            // Nobody adds anything any more.
            try await crew.end(Member.all.filter { $0 != .broker && !$0.isPublisher })
        }
        try await crew.end([.broker])
        history.readers += readers.flatMap { $0.dropLast() }.map {
            Reader(name: $0, deliveries: arena.deliveries(to: $0), isComplete: false)
        }
        return history
    }

    private func report(_ history: History, _ crew: Crew, _ arena: Arena) async throws -> SoakReport {
        var report = SoakReport(seed: seed, shape: shape)
        report.published = history.invoked.count
        report.acknowledged = history.acknowledged.count
        report.delivered = history.readers.reduce(0) { $0 + $1.deliveries.count }
        report.consumed = history.journal.filter { $0.value == nil }.count
        let tally = await crew.tally
        (report.kills, report.stops, report.restarts) = (tally.kills, tally.stops, tally.restarts)
        report.findings = await crew.surprises + Checker.findings(in: history).map(\.description)
        report.logs = report.findings.isEmpty ? "" : arena.failure("").logs
        return report
    }
}
