package import EventBus
package import Logging
internal import ServiceLifecycle

/// Repeats what failed because nobody served the bus, because the journal could not take it, or because it was replaced. A
/// service outlives its broker, a full disk and a new journal: it never gives up.
package struct BusRetry: Sendable {
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let codes: Set<BusError.Code>
    /// Short, so that a broker's restart is hardly felt; the transport does the real waiting.
    private let pause: Duration = .seconds(1)

    /// - Parameter codes: of the errors after which an operation is repeated.
    package init(
        logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        after codes: Set<BusError.Code> = [.unavailable, .journal, .epoch, .unrecorded]
    ) {
        self.logger = logger
        self.clock = clock
        self.codes = codes
    }

    /// - Throws: what `operation` throws, except a ``BusError`` after which it is repeated.
    package func run<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        try await run(operation) { try await clock.sleep(for: pause) }
    }

    /// As ``run(_:)``, until the service is asked to stop.
    /// - Throws: also `CancellationError`, when the service was asked to stop before the operation succeeded.
    func runUntilShutdown<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        try await run(operation) {
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: pause) }
        }
    }

    private func run<Result: Sendable>(
        _ operation: () async throws -> Result, pause: () async throws -> Void
    ) async throws -> Result {
        var hasWarned = false
        while true {
            do {
                return try await operation()
            } catch let error as BusError where codes.contains(error.code) {
                logger.log(level: hasWarned ? .debug : .warning, "the bus does not serve, trying again: \(error)")
                hasWarned = true
            }
            try await pause()
        }
    }
}

extension BusError {
    /// Whether it tells of this process or its bus, and not of what was to be done.
    var isOfProcess: Bool { [.unavailable, .address, .fenced, .epoch, .journal, .closed].contains(code) }
}
