/// Runs operations concurrently and returns the result of the first to finish. The other operations are cancelled, and
/// have ended when this function returns.
@discardableResult
func firstResult<Result: Sendable>(
    of first: @escaping @concurrent @Sendable () async -> Result,
    _ others: (@concurrent @Sendable () async -> Result)...
) async -> Result {
    await withTaskGroup(of: Result.self) { group in
        group.addTask(operation: first)
        for operation in others { group.addTask(operation: operation) }
        defer { group.cancelAll() }
        // Only a group without tasks returns nil here.
        guard let result = await group.next() else { return await first() }
        return result
    }
}
