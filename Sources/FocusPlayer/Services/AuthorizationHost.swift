package import Authorization
internal import ConsentCallback
package import Consuming
internal import Contracts
package import EventBus
package import Logging
internal import ServiceRuntime
package import Support
internal import Vocabulary

/// Connects an `AuthorizationService` to a bus and a browser.
///
/// The host begins to listen for the browser's answer before it handles the first command, and listens until it stops.
/// It renews tokens at the same time as it handles messages, so that a slow answer of Spotify holds up no session.
package struct AuthorizationHost: ReadyService {
    package let ready = Latch()
    private let service: AuthorizationService
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics

    /// - Parameter metrics: the counts of the process; the consumer updates them.
    package init(
        service: AuthorizationService, bus: EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics()
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
        let unfinished = try await tolerating { try await service.unfinishedRenewals() } ?? []
        // The service has at most one renewal of each session under way, so the number of elements is limited.
        let (renewals, begin) = AsyncStream.makeStream(of: PendingRenewal.self)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                defer { begin.finish() }
                try await listen(renewal: { begin.yield($0) }, pendingRedirectURI: pendingRedirectURI)
            }
            for renewal in unfinished { group.addTask { try await renew(renewal) } }
            // When the host is asked to stop, the renewals that are under way end by themselves in a limited time.
            for await renewal in renewals { group.addTask { try await renew(renewal) } }
        }
    }

    private func listen(
        renewal: @escaping @Sendable (PendingRenewal) -> Void, pendingRedirectURI: String?
    ) async throws {
        let listener = ConsentListener(pendingRedirectURI: pendingRedirectURI, logger: logger) { callback in
            let outcome = try await service.receive(callback)
            try await announce(outcome)
            return outcome.failure
        }
        try await listener.whileListening { redirectURI in
            let running = Prepared<Running>()
            running.set(Running(service: service, redirectURI: redirectURI, renew: renewal))
            try await HandlerService(
                Self.handlers(running), bus: bus, logger: logger, ready: ready, metrics: metrics
            ).run()
        }
    }

    private func renew(_ renewal: PendingRenewal) async throws {
        do {
            try await announce(try await service.renew(renewal))
        } catch let error as TokenStoreError {
            logger.error("the end of a renewal could not be stored: \(error)")
        } catch let error as BusError where error.code == .refused {
            logger.error("the outcome of a renewal could not be published: \(error)")
        }
    }

    /// Publishes the outcome of a consent or a renewal, and waits for the bus without a time limit. Then acknowledges
    /// the outcome.
    private func announce(_ outcome: AuthorizationOutcome) async throws {
        let messages = try outcome.messages.map { message in
            if let cause = outcome.cause { return try Envelope(message, source: bus.source, causedBy: cause) }
            return try Envelope(message, source: bus.source)
        }
        if !messages.isEmpty {
            _ = try await BusRetry(holding: .nothing, logger: logger).run { try await bus.publish(Batch(messages)) }
        }
        try await service.acknowledge(outcome)
    }

    /// Returns the result of an operation. If the vault fails, logs the error and returns nil.
    private func tolerating<Result>(_ operation: () async throws -> Result) async throws -> Result? {
        do {
            return try await operation()
        } catch let error as TokenStoreError {
            logger.error("the files of an earlier run cannot be used: \(error)")
            return nil
        }
    }

    /// The parts of a running host that its handlers use.
    struct Running: Sendable {
        let service: AuthorizationService
        let redirectURI: String
        /// Begins a renewal, and returns at once.
        let renew: @Sendable (PendingRenewal) -> Void
    }

    static func handlers(_ running: Prepared<Running>) -> Handlers {
        let sent: [any Message.Type] = [DomainEvent.SpotifyAuthorizationUpdated.self]
        return Handlers("auth-service")
            .on(DomainEvent.LaunchFinished.self, sends: sent) { _, context in
                try await running().service.launched(context.session)
            }
            .on(DomainEvent.SessionEnded.self, sends: sent) { _, context in
                try await running().service.sessionEnded(context.session)
            }
            .on(
                Command.SpotifyAuthorizationRequested.self, sends: sent + [DomainEvent.SpotifyAuthURLGenerated.self]
            ) { _, context in
                let running = try running()
                return try await running.service.requestAuthorization(
                    causedBy: context.cause.attributes, redirectURI: running.redirectURI)
            }
            .on(Command.SpotifyDeauthorizationRequested.self, sends: sent) { _, context in
                try await running().service.deauthorize(context.session)
            }
            .on(Command.SpotifyTokenRefreshRequested.self, sends: sent) { command, context in
                let running = try running()
                let (renewal, messages) = try await running.service.requestRenewal(
                    of: command.generation, causedBy: context.cause.attributes)
                if let renewal { running.renew(renewal) }
                return messages
            }
    }
}
