import CommandLineTestSupport
import Contracts
import EventBus

extension SegueCommandLine {
    /// Runs `body` while a process on the bus reports its metrics when it is asked for them.
    func whileReporting<Result: Sendable>(
        _ metrics: DomainEvent.MetricsReported, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withConnection { bus in
            try await bus.withSubscription(to: [.type(DomainEvent.MetricsRequested.self)], from: .now) { requests in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for try await _ in requests {
                            try await bus.publishTransient([Envelope(metrics, source: bus.source)])
                        }
                    }
                    defer { group.cancelAll() }
                    return try await body()
                }
            }
        }
    }
}
