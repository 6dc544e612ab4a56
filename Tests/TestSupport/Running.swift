package import Consuming
package import EventBus
package import Foundation
package import Logging
package import ServiceLifecycle
internal import Support

/// Runs a service while `body` runs. `body` begins after the service is ready.
/// - Throws: the first error of `body` or of the service.
@discardableResult
package func withRunning<Result: Sendable>(
    _ service: any ReadyService, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withRunning(service as any Service) {
        try await service.ready.waitUntilOpen()
        return try await body()
    }
}

/// Runs a service while `body` runs.
@discardableResult
package func withRunning<Result: Sendable>(
    _ service: any Service, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withBackground([{ try await service.run() }], body)
}

/// Runs `body` concurrently with tasks that do not end by themselves, and cancels the tasks afterwards.
/// - Throws: the first error of `body` or of a task.
package func withBackground<Result: Sendable>(
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

extension Handlers {
    /// Runs the handlers on a bus.
    package func service(
        on bus: EventBus, logger: Logger = .silent, metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) -> HandlerService {
        HandlerService(
            self, bus: bus, logger: logger, metrics: metrics, clock: ServiceClock(now: now, clock: clock))
    }
}
