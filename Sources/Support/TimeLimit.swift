/// Runs an operation with a limit for its whole time. At the limit, cancels the operation and throws `error` after it
/// has ended. An operation that ignores cancellation therefore exceeds the limit.
package func withTimeLimit<Result: Sendable, Failure: Error>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(), orThrow error: @autoclosure () throws -> Failure,
    _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    guard let result = try await withTimeLimit(limit, clock: clock, operation) else { throw try error() }
    return result
}

/// Runs an operation with a limit for its whole time. At the limit, cancels the operation and returns nil after it has
/// ended. An operation that ignores cancellation therefore exceeds the limit.
package func withTimeLimit<Result: Sendable>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await clock.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
