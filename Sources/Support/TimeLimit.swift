/// Runs an operation with a limit for its whole time. At the limit, cancels the operation and throws `error` after it
/// has ended.
package func withTimeLimit<Result: Sendable, Failure: Error>(
    _ limit: Duration, orThrow error: Failure, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw error }
        return result
    }
}
