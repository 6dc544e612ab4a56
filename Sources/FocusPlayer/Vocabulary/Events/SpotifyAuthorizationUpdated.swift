package import Contracts
internal import EventBus

extension DomainEvent {
    /// Whether the app may use the Spotify account.
    package struct SpotifyAuthorizationUpdated: EventMessage {
        package enum Status: String, Codable, Sendable, CaseIterable {
            /// A valid token is stored.
            case authorized
            /// There has been none.
            case unauthorized
            /// There was one, and it is gone: by log-out, or refused by Spotify.
            case deauthorized
        }

        package var status: Status

        package init(status: Status) {
            self.status = status
        }
    }
}
