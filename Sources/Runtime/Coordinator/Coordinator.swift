internal import Contracts
package import EventBus
package import Foundation
package import Logging
package import Navigation
package import ServiceRuntime

/// Hosts the navigation of one platform: a machine per session, fed with the messages of the bus in their order.
///
/// What a message leads to, the changed snapshot and the progress made are one batch. So the retained snapshot and the
/// position always fit together, and a coordinator that was killed goes on exactly where it was.
package struct Coordinator: ReadyService {
    /// How long a view may take to animate a screen out before it counts as gone all the same.
    static let animationTime: Duration = .seconds(2)

    package let ready = ReadySignal()
    let flow: Flow
    let bus: any EventBus
    let logger: Logger
    let metrics: ConsumerMetrics
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - metrics: of the process; counts what is handled.
    ///   - clock: measures how long a screen may take to leave, and a guard to be answered.
    ///   - now: the time by which commands expire.
    package init(
        flow: Flow, bus: any EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.flow = flow
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        self.now = now
    }

    package func run() async throws {
        try await BusRetry(logger: logger).run { try await coordinate() }
    }

    private func coordinate() async throws {
        guard let claim = try await bus.claimUntilShutdown(consumer: flow.consumer) else { return }
        try await bus.tellCutOffs(of: claim, flow.receives, logger: logger)
        // Reading comes after the claim: from then on nobody else can change these snapshots.
        var sessions = Sessions(flow: flow, source: bus.source)
        let restored = try sessions.restore(
            from: try await bus.documents(matching: [.type(Document.NavigationState.self)]), logger: logger)
        try await bus.publish(
            Batch(restored.messages, checkpoint: Checkpoint(claim: claim, position: claim.position)))
        try await withThrowingDiscardingTaskGroup { timers in
            let filters = flow.receives.map { MessageFilter.type($0) }
            for expectation in restored.expectations { wait(for: expectation, &timers) }
            try await bus.consumeUntilShutdown(under: claim, filters, metrics: metrics, whenLive: ready.signal) {
                message in
                let outcome = try sessions.handle(message, at: now())
                for expectation in outcome.expectations { wait(for: expectation, &timers) }
                for failure in outcome.failures {
                    logger.error("\(failure)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
                }
                return outcome.messages
            }
            timers.cancelAll()
        }
    }
}
