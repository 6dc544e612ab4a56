package import EventBus
package import Logging
internal import ServiceLifecycle

/// Repeats an operation, without limit, while it fails with a ``BusError`` that has one of a set of codes.
package struct BusRetry: Sendable {
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let codes: Set<BusError.Code>
    /// The time between two attempts.
    private let pause: Duration = .seconds(1)

    /// - Parameter codes: the error codes after which an operation is repeated.
    package init(
        logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        after codes: Set<BusError.Code> = [.unavailable, .journal, .epoch, .unrecorded]
    ) {
        self.logger = logger
        self.clock = clock
        self.codes = codes
    }

    /// - Throws: `CancellationError`, and the error of `operation` unless it is a ``BusError`` with one of the codes.
    package func run<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        try await run(operation) { try await clock.sleep(for: pause) }
    }

    /// Repeats an operation as ``run(_:)`` does, until the service is asked to stop.
    /// - Throws: also `CancellationError` if an attempt fails and the service is asked to stop before the next one.
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
                logger.log(level: hasWarned ? .debug : .warning, "an operation on the bus failed, retrying: \(error)")
                hasWarned = true
            }
            try await pause()
        }
    }
}

extension BusError {
    /// True if the error is about this process or its bus, and not about the operation that failed.
    var isOfProcess: Bool { [.unavailable, .address, .fenced, .epoch, .journal, .closed].contains(code) }
}
