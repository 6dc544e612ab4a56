/// Runs operations beside each other until the first returns. The others are cancelled, and have returned when this does.
@discardableResult
func firstResult<Result: Sendable>(
    of first: @escaping @concurrent @Sendable () async -> Result,
    _ others: (@concurrent @Sendable () async -> Result)...
) async -> Result {
    await withTaskGroup(of: Result.self) { group in
        group.addTask(operation: first)
        for operation in others { group.addTask(operation: operation) }
        defer { group.cancelAll() }
        // A group gives nil only when it has no task.
        guard let result = await group.next() else { return await first() }
        return result
    }
}
