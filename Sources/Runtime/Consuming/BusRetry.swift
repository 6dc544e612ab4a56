package import EventBus
package import Logging
internal import ServiceLifecycle

/// Repeats an operation on the bus, without limit, while it fails with an error that can pass.
package struct BusRetry: Sendable {
    /// The claims and positions that an operation uses from before an attempt. They decide which errors can pass.
    package enum Holding: Sendable, CaseIterable {
        /// None: each attempt makes its own claim or subscription, or needs none.
        case nothing
        /// A claim or a position that all attempts share. Once the bus refuses it, it refuses it for ever.
        case claim
        /// The last claim of another task, which claims again when its claim ends.
        case renewedClaim

        /// The codes of the errors after which the operation is repeated.
        package var passing: Set<BusError.Code> {
            switch self {
            case .nothing: [.unavailable, .journal, .epoch, .unrecorded]
            case .claim: [.unavailable, .journal]
            case .renewedClaim: [.unavailable, .journal, .epoch, .unrecorded, .fenced]
            }
        }
    }

    private let holding: Holding
    private let logger: Logger
    private let clock: any Clock<Duration>
    /// The time between two attempts.
    private let pause: Duration = .seconds(1)

    package init(holding: Holding, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.holding = holding
        self.logger = logger
        self.clock = clock
    }

    /// - Throws: `CancellationError`, and the error of `operation` unless it can pass.
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
            } catch let error as BusError where holding.passing.contains(error.code) {
                logger.log(level: hasWarned ? .debug : .warning, "an operation on the bus failed, retrying: \(error)")
                hasWarned = true
            }
            try await pause()
        }
    }
}

extension BusError {
    /// True if the error is about this process or its bus, and not about the operation that failed.
    var isOfProcess: Bool {
        [.unavailable, .address, .key, .denied, .fenced, .epoch, .journal, .closed].contains(code)
    }
}
