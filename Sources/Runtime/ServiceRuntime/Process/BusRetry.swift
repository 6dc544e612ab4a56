internal import EventBus
package import Logging

/// Repeats what failed because nobody served the bus. A service outlives its broker: it never gives up.
package struct BusRetry: Sendable {
    private let logger: Logger
    private let clock: any Clock<Duration>
    /// Short, so that a broker's restart is hardly felt; the transport does the real waiting.
    private let pause: Duration = .seconds(1)

    package init(logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.logger = logger
        self.clock = clock
    }

    /// - Throws: what `operation` throws, except ``BusError`` with code ``BusError/Code/unavailable``.
    package func run<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        var hasWarned = false
        while true {
            do {
                return try await operation()
            } catch let error as BusError where error.code == .unavailable {
                logger.log(level: hasWarned ? .debug : .warning, "the bus is unavailable, trying again: \(error)")
                hasWarned = true
            }
            try await clock.sleep(for: pause)
        }
    }
}
