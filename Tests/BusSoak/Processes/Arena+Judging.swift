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
        history.journal = try await withBus(deadline: .seconds(300)) { bus in
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
        try? await within(.seconds(120), "results were missing") {
            try await bus.results(of: values, by: groups)
        }
        for reader in readers {
            try? await until("\(reader) got everything", deadline: .seconds(60)) { counts in
                // The set is costly: it is compared only when it can be complete.
                (counts[reader]?.delivered ?? 0) >= values.count
                    && values.isSubset(of: self.deliveries(to: reader).map(\.value))
            }
        }
        try Task.checkCancellation()
    }
}
