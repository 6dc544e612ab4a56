package import Contracts
internal import EventBus

extension DomainEvent {
    /// A person has to consent at this URL.
    package struct SpotifyAuthURLGenerated: EventMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }

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

    /// The user's playlists are there: see the document.
    package struct PlaylistsLoaded: EventMessage {
        package init() {}
    }

    /// The generated playlist is ready: see the document.
    package struct PlaylistShuffled: EventMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }

    /// Music plays.
    package struct PlaybackStarted: EventMessage {
        package init() {}
    }

    /// The account may not do this: it needs Spotify Premium.
    package struct SpotifyPremiumOnlyActionAttempted: EventMessage {
        package init() {}
    }

    /// No Spotify device is active: see the document with the devices.
    package struct SpotifyDeviceActivationRequired: EventMessage {
        package init() {}
    }
}
