internal import BusChecker
internal import EventBus

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
            var report = SoakReport(seed: seed)
            (report.findings, report.logs) = ([failure.reason], failure.logs)
            return report
        }
    }

    /// Lets everybody finish; who does not is found by the checker.
    private func drain(_ crew: Crew, _ arena: Arena) async throws -> History {
        try await crew.end(Member.all.filter(\.isPublisher))
        var history = History()
        history.groups = Set(Member.all.compactMap(\.group))
        for name in await crew.incarnations.filter(\.key.isPublisher).values.joined() {
            history.add(arena.history(of: name))
        }
        let groups = history.groups
        history.journal = try await arena.withBus(deadline: .seconds(240)) { bus in
            let values = Set(try await bus.journal().compactMap(\.value))
            try? await arena.within(.seconds(60), "results were missing") {
                try await bus.results(of: values, by: groups)
            }
            try? await awaitDeliveries(of: values, crew, arena)
            try await crew.end(Member.all.filter { $0 != .broker && !$0.isPublisher })
            // Read anew: nobody adds anything any more.
            return try await bus.journal()
        }
        try await crew.end([.broker])
        history.readers = await readers(crew, arena)
        return history
    }

    private func awaitDeliveries(of values: Set<Value>, _ crew: Crew, _ arena: Arena) async throws {
        for case (.subscriber, let names) in await crew.incarnations {
            guard let name = names.last else { continue }
            try await arena.until("\(name) got everything", deadline: .seconds(60)) { counts in
                // The set is costly: it is compared only when it can be complete.
                (counts[name]?.delivered ?? 0) >= values.count
                    && values.isSubset(of: arena.deliveries(to: name).map(\.value))
            }
        }
    }

    private func readers(_ crew: Crew, _ arena: Arena) async -> [Reader] {
        await crew.incarnations.flatMap { member, names -> [Reader] in
            guard case .subscriber = member else { return [] }
            return names.map {
                Reader(name: $0, deliveries: arena.deliveries(to: $0), isComplete: $0 == names.last)
            }
        }
    }

    private func report(_ history: History, _ crew: Crew, _ arena: Arena) async throws -> SoakReport {
        var report = SoakReport(seed: seed)
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
