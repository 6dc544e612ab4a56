package import Contracts
internal import EventBus

extension DomainEvent {
    /// Reports that a person has to open this URL to give consent.
    package struct SpotifyAuthURLGenerated: EventMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }

    /// Reports whether the app may use the Spotify account.
    package struct SpotifyAuthorizationUpdated: EventMessage {
        package enum Status: String, Codable, Sendable, CaseIterable {
            /// The account is connected. Its access token may have expired.
            case authorized
            /// No account is connected, or the stored tokens cannot be read. Published at launch.
            case unauthorized
            /// The account was disconnected: by log-out, or because Spotify refused the refresh token.
            case deauthorized
        }

        package var status: Status

        package init(status: Status) {
            self.status = status
        }
    }

    /// Reports that `document.Playlists` contains the account's playlists.
    package struct PlaylistsLoaded: EventMessage {
        package init() {}
    }

    /// Reports that `document.GeneratedPlaylist` is ready.
    package struct PlaylistShuffled: EventMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }

    /// Reports that music plays.
    package struct PlaybackStarted: EventMessage {
        package init() {}
    }

    /// Reports that a command has changed the playback: it was paused or resumed, or has another song, position or
    /// volume.
    package struct PlaybackChanged: EventMessage {
        package init() {}
    }

    /// Reports that an action failed because the account does not have Spotify Premium.
    package struct SpotifyPremiumOnlyActionAttempted: EventMessage {
        package init() {}
    }

    /// Reports that no Spotify device is active, or that the chosen device was not found. `document.Devices` lists the
    /// devices.
    package struct SpotifyDeviceActivationRequired: EventMessage {
        package init() {}
    }
}
