internal import Contracts
package import EventBus
package import Logging
package import ServiceRuntime

/// Shows the errors of every session as `document.ErrorBanner`, over whatever screen there is.
///
/// A banner is hidden by `command.ErrorDismissed`: a person sends it, or this service itself when the time is up. So what
/// hid a banner can be seen on the bus, and a recording replays without a clock.
package struct ErrorNotifier: ReadyService {
    static let consumer = "error-notifier"

    package static let receives: [any Message.Type] = [ApplicationError.self, Command.ErrorDismissed.self]
    package static let sends: [any Message.Type] = [
        Document.ErrorBanner.self, Document.ErrorQueueState.self, Command.ErrorDismissed.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    package let ready = ReadySignal()
    let bus: any EventBus
    let logger: Logger
    let metrics: ConsumerMetrics
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - metrics: of the process; counts what is handled.
    ///   - clock: measures how long a banner is shown.
    package init(
        bus: any EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
    }

    package func run() async throws {
        try await BusRetry(logger: logger).run { try await notify() }
    }

    private func notify() async throws {
        guard let claim = try await bus.claimUntilShutdown(consumer: Self.consumer) else { return }
        try await bus.tellCutOffs(of: claim, Self.receives.types, logger: logger)
        var queues = try await restoredQueues()
        try await withThrowingDiscardingTaskGroup { timers in
            // The time starts anew after a restart: rather shown too long than never read.
            for (session, queue) in queues { hideInDueTime(queue.shown, of: session, &timers) }
            let filters = Self.receives.types.map { MessageFilter.type($0) }
            try await bus.consumeUntilShutdown(under: claim, filters, metrics: metrics, whenLive: ready.signal) {
                message in
                var queue = queues[message.subject] ?? ErrorQueue()
                let shown = queue.shown
                let results = try results(of: message, &queue)
                queues[message.subject] = queue
                if queue.shown != shown { hideInDueTime(queue.shown, of: message.subject, &timers) }
                return results
            }
            timers.cancelAll()
        }
    }

    /// Reading comes after the claim: nobody else writes these documents from then on.
    private func restoredQueues() async throws -> [String: ErrorQueue] {
        var queues: [String: ErrorQueue] = [:]
        for document in try await bus.documents(matching: [.type(Document.ErrorQueueState.self)]) {
            do {
                queues[document.subject] = try document.decode(Document.ErrorQueueState.self).queue
            } catch {
                logger.warning("the errors of session \(document.subject) could not be restored: \(error)")
            }
        }
        return queues
    }
}
