internal import Authorization
internal import Consuming
internal import Contracts
package import EventBus
internal import Vocabulary

extension AuthorizationHost {
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
