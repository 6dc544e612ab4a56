package import Authorization
internal import ConsentCallback
package import Consuming
internal import Contracts
package import EventBus
package import Logging
internal import Vocabulary

/// Hosts an `AuthorizationService` between a bus and a browser.
///
/// It listens for the browser's answer as long as it runs, from before the first command is handled: a URL that it
/// publishes always leads back to it.
package struct AuthorizationHost: ReadyService {
    package let ready = ReadySignal()
    private let service: AuthorizationService
    private let bus: any EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics

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
        let messages = try outcome.messages.map { message in
            if let cause = outcome.cause { return try Envelope(message, source: bus.source, causedBy: cause) }
            return try Envelope(message, source: bus.source)
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

    package static let receives: [any Message.Type] = [
        DomainEvent.LaunchFinished.self, Command.SpotifyAuthorizationRequested.self,
        Command.SpotifyDeauthorizationRequested.self, Command.SpotifyTokenRefreshRequested.self,
    ]
    package static let sends: [any Message.Type] = [
        DomainEvent.SpotifyAuthURLGenerated.self, DomainEvent.SpotifyAuthorizationUpdated.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    /// One consumer for all: whatever changes the tokens has to take turns anyway.
    func routes(redirectURI: String) -> MessageConsumer {
        MessageConsumer("auth-service", bus: bus, logger: logger, ready: ready, metrics: metrics)
            .on(DomainEvent.LaunchFinished.self) { _, _ in
                try await service.launched()
            }
            .on(Command.SpotifyAuthorizationRequested.self) { _, context in
                try await service.requestAuthorization(
                    causedBy: context.cause.attributes, redirectURI: redirectURI)
            }
            .on(Command.SpotifyDeauthorizationRequested.self) { _, context in
                try await service.deauthorize(causedBy: context.cause.attributes)
            }
            .on(Command.SpotifyTokenRefreshRequested.self) { command, _ in
                try await service.refresh(generation: command.generation)
            }
    }
}
