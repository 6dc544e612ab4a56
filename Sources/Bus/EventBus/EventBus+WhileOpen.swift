extension EventBus {
    /// Drives the bus for as long as `body` runs, then closes it in order: what was published is out.
    /// - Throws: what `body` or ``run()`` throws, whichever is first.
    public func whileOpen<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                do { try await run() } catch is CancellationError {}
                return nil
            }
            group.addTask { try await body() }
            while let result = try await group.next() {
                guard let result else { continue }
                // Only cancelled does the bus say good-bye and close.
                group.cancelAll()
                try await group.waitForAll()
                return result
            }
            throw BusError(.closed, "the bus ended first")
        }
    }
}
