package import Authorization
internal import ConsentCallback
package import Consuming
internal import Contracts
package import EventBus
package import Logging

/// Hosts an `AuthorizationService` between a bus and a browser.
///
/// It listens for the browser's answer as long as it runs, from before the first command is handled: a URL that it
/// publishes always leads back to it.
package struct AuthorizationHost: ReadyService {
    package let ready = ReadySignal()
    let service: AuthorizationService
    let bus: any EventBus
    let logger: Logger
    let metrics: ConsumerMetrics

    /// - Parameter metrics: of the process; counts what is handled.
    package init(
        service: AuthorizationService, bus: any EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics()
    ) {
        self.service = service
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
    }

    package func run() async throws {
        for outcome in try await tolerating({ try await service.unannouncedOutcomes() }) ?? [] {
            try await announce(outcome)
        }
        let pendingRedirectURI = try await tolerating { try await service.pendingRedirectURI() } ?? nil
        let listener = ConsentListener(pendingRedirectURI: pendingRedirectURI, logger: logger) { callback in
            let outcome = try await service.receive(callback)
            try await announce(outcome)
            return outcome.failure
        }
        try await listener.whileListening { redirectURI in
            try await routes(redirectURI: redirectURI).run()
        }
    }

    /// Publishes what came of a consent, however long the bus takes; only then may it be forgotten.
    private func announce(_ outcome: AuthorizationOutcome) async throws {
        let messages = try outcome.messages.map {
            try Envelope($0, source: bus.source, causedBy: outcome.causeEnvelope)
        }
        _ = try await BusRetry(logger: logger).run { try await bus.publish(Batch(messages)) }
        try await service.acknowledge(outcome)
    }

    /// Files that cannot be read are no reason not to run: whoever asks for something is told then.
    private func tolerating<Result>(_ operation: () async throws -> Result) async throws -> Result? {
        do {
            return try await operation()
        } catch let error as TokenStoreError {
            logger.error("what an earlier run left cannot be read: \(error)")
            return nil
        }
    }
}
