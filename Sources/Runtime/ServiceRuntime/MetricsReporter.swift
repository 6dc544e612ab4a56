internal import Consuming
internal import Contracts
internal import EventBus
internal import Logging
internal import ServiceLifecycle
internal import Support

/// Reports the metrics of a process when they are asked for.
///
/// The report is for all requests that have arrived since the report before. Between two reports there is a ``pause``,
/// so that many requests cost no more than a few. A process that may not receive requests, such as a device on a bus with
/// rights, reports nothing.
struct MetricsReporter: ReadyService {
    static let pause: Duration = .milliseconds(200)

    let context: ServiceContext
    let clock: any Clock<Duration>
    /// Signalled when requests can arrive.
    let ready = Latch()

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            do {
                try await BusRetry(holding: .nothing, logger: context.logger, clock: clock).run { try await answer() }
            } catch let error as BusError where error.code == .forbidden {
                ready.open()
                try await gracefulShutdown()
            }
        }
    }

    /// Answers requests until the bus is closed.
    private func answer() async throws {
        let (requests, requested) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in requests {
                    try await report()
                    try await clock.sleep(for: Self.pause)
                }
            }
            group.addTask {
                let filters: [MessageFilter] = [.type(DomainEvent.MetricsRequested.self)]
                try await context.bus.withSubscription(to: filters, from: .now) { messages in
                    ready.open()
                    for try await _ in messages { requested.yield() }
                }
                throw BusError(.closed, "the bus was closed")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func report() async throws {
        do {
            let lag = try await context.metrics.lag(on: context.bus)
            let report = DomainEvent.MetricsReported(
                instance: context.process.instance, handled: context.metrics.handled, failed: context.metrics.failed,
                lag: lag)
            try await context.bus.publishTransient([Envelope(report, source: context.bus.source)])
        } catch let error as BusError where error.code != .closed {
            context.logger.debug("the metrics could not be reported: \(error)")
        }
    }
}
