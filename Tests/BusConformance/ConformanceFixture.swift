internal import EventBus

/// What a case works with: buses that run for as long as it needs them.
struct ConformanceFixture: Sendable {
    let make: ConformanceCase.MakeBus
    let restartService: ConformanceCase.Restart?

    /// Connects a process to the bus for as long as `body` runs.
    func withBus<Result: Sendable>(
        _ source: String = "conformance/1", _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try await make(source)
        return try await bus.whileOpen { try await body(bus) }
    }

    /// Connects two processes.
    func withBuses<Result: Sendable>(
        _ body: @escaping @Sendable (_ first: any EventBus, _ second: any EventBus) async throws -> Result
    ) async throws -> Result {
        try await withBus("conformance/1") { first in
            try await withBus("conformance/2") { second in try await body(first, second) }
        }
    }

    func restart() async throws {
        guard let restartService else {
            throw BusError(.unavailable, "the transport says that it survives a restart, but not how to restart it")
        }
        try await restartService()
    }
}

/// Runs `body` beside tasks that would run for ever, and ends these after it.
func withBackground<Result: Sendable>(
    _ tasks: [@Sendable () async throws -> Void], _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        for task in tasks {
            group.addTask {
                do { try await task() } catch is CancellationError {}
                return nil
            }
        }
        group.addTask { try await body() }
        while let result = try await group.next() {
            guard let result else { continue }
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
        throw CancellationError()
    }
}
