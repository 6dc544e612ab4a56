/// Runs operations beside each other until the first returns. The others are cancelled, and have returned when this does.
///
/// - Parameter operations: at least one.
@discardableResult
func firstResult<Result: Sendable>(
    of operations: (@concurrent @Sendable () async -> Result)...
) async -> Result {
    await withTaskGroup(of: Result.self) { group in
        for operation in operations { group.addTask(operation: operation) }
        defer { group.cancelAll() }
        guard let result = await group.next() else { preconditionFailure("there are no operations") }
        return result
    }
}
