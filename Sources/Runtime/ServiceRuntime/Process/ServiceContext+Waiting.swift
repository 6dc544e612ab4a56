internal import Consuming
internal import EventBus
internal import Logging

extension ServiceContext {
    /// How often a person who watches the log is reminded of what the process is waiting for.
    private static let reminderInterval: Duration = .seconds(5)

    /// Does something on the bus, however long the bus takes to come up. A transport may wait for its broker or throw
    /// `unavailable`; either way the log says what is missing.
    func waitingForBus(
        clock: any Clock<Duration>, _ operation: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await BusRetry(logger: logger, clock: clock).run(operation) }
            group.addTask {
                var level = Logger.Level.warning
                while true {
                    try await clock.sleep(for: Self.reminderInterval)
                    logger.log(level: level, "waiting for the bus at \(busAddress)")
                    level = .info
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
