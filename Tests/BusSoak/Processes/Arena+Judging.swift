package import BusChecker
internal import EventBus

extension Arena {
    /// What took part has written down, and what the journal holds, once all have had time to get all of it.
    /// - Parameters:
    ///   - readers: subscribers that are still there.
    ///   - whenSettled: called before the journal is read.
    package func history(
        publishers: [String], groups: Set<String>, readers: [String],
        whenSettled: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> History {
        var history = History()
        for publisher in publishers { history.add(self.history(of: publisher)) }
        history.groups = groups
        history.journal = try await withBus(deadline: .seconds(600)) { bus in
            try await self.settle(groups, readers, on: bus)
            try await whenSettled()
            return try await bus.journal()
        }
        history.readers = readers.map { Reader(name: $0, deliveries: deliveries(to: $0), isComplete: true) }
        return history
    }

    /// Waits until everybody has had everything; who has not is found by the checker.
    private func settle(_ groups: Set<String>, _ readers: [String], on bus: any EventBus) async throws {
        let values = Set(try await bus.journal().compactMap(\.value))
        try? await whileGettingOn("results were missing") { try await bus.results(of: values, by: groups) }
        for reader in readers {
            try? await whileGettingOn("\(reader) did not get everything") {
                try await self.progress.until { counts in
                    // The set is costly: it is compared only when it can be complete.
                    (counts[reader]?.delivered ?? 0) >= values.count
                        && values.isSubset(of: self.deliveries(to: reader).map(\.value))
                }
            }
        }
        try Task.checkCancellation()
    }

    /// Waits for `body` for as long as anybody handles or gets anything: who is slow has nothing missing yet.
    private func whileGettingOn(_ what: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                var last = -1
                while case let now = await self.progress.total, now > last {
                    last = now
                    try await Task.sleep(for: .seconds(30))
                }
                throw self.failure("\(what), and nobody got on")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
