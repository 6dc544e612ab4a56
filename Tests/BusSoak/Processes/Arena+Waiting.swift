extension Arena {
    /// Waits until the counts fit; they are looked at again whenever a process has written or logged something,
    /// or has ended.
    /// - Parameter what: named in the failure.
    /// - Throws: ``ArenaFailure`` when they do not before the deadline.
    package func until(
        _ what: String, deadline: Duration = Arena.deadline,
        _ fits: @escaping @Sendable ([String: Counts]) throws -> Bool
    ) async throws {
        try await within(deadline, "it did not come true that \(what)") { try await self.progress.until(fits) }
    }

    /// Waits until a process has logged something that fits.
    package func untilLog(
        of name: String, _ what: String, _ fits: @escaping @Sendable (String) -> Bool
    ) async throws {
        try await until("the log of \(name) \(what)") { _ in fits(self.log(of: name)) }
    }

    /// Waits until a process has ended.
    @discardableResult
    package func untilEnd(of child: ChildProcess, deadline: Duration = Arena.deadline) async throws -> ProcessEnd {
        // Cancelling the wait would not end it: the process is killed, so that it does.
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

    /// - Throws: ``ArenaFailure`` when `body` takes longer.
    package func within<Result: Sendable>(
        _ deadline: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: deadline)
                throw self.failure("\(what) within \(deadline)")
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
