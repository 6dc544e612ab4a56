package import Contracts
internal import EventBus

extension DomainEvent {
    /// The account may not do this: it needs Spotify Premium.
    package struct SpotifyPremiumOnlyActionAttempted: EventMessage {
        package init() {}
    }
}
