package import Contracts
internal import EventBus

extension Command {
    /// Connects the app to a Spotify account.
    package struct SpotifyAuthorizationRequested: CommandMessage {
        package init() {}
    }

    /// Disconnects the Spotify account.
    package struct SpotifyDeauthorizationRequested: CommandMessage {
        package init() {}
    }

    /// Renews the access token of a generation, which Spotify has refused. Has no effect if the token of this
    /// generation has been renewed already.
    package struct SpotifyTokenRefreshRequested: CommandMessage {
        /// The number of the token in the vault, counted from 1.
        package var generation: Int

        package init(generation: Int) {
            self.generation = generation
        }
    }

    /// Makes a focus playlist from this playlist.
    package struct PlaylistSelected: CommandMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }

    /// Plays the generated playlist on the active Spotify device.
    package struct PlayOnSpotifyRequested: CommandMessage {
        package init() {}
    }

    /// Plays the generated playlist on this device.
    package struct DeviceSelected: CommandMessage {
        package var deviceID: String

        package init(deviceID: String) {
            self.deviceID = deviceID
        }
    }

    /// Opens Spotify's URL of the generated playlist.
    package struct DidRequestOpenPlaylistOnSpotify: CommandMessage {
        package init() {}
    }

    /// Opens another app by its URL.
    package struct OpenAnotherAppRequested: CommandMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }
}
