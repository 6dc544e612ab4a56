internal import SystemPackage

extension Console {
    /// Runs `body` until it ends, or until nobody reads what is written here any more: in `segue monitor | head -1`,
    /// a monitor that has nothing to write would never notice.
    ///
    /// - Throws: `Errno.brokenPipe`, and what `body` throws.
    func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.waitForBrokenPipe() }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits with poll(2), which reports a pipe without a reader unasked.
    ///
    /// Returns when the task is cancelled.
    /// - Throws: `Errno.brokenPipe`.
    func waitForBrokenPipe() async throws {
        if try await descriptor.wait(for: 0) { throw Errno.brokenPipe }
    }
}
