package import Contracts
internal import EventBus

extension Command {
    /// Connect the app with a Spotify account.
    package struct SpotifyAuthorizationRequested: CommandMessage {
        package init() {}
    }

    /// Forget the Spotify account.
    package struct SpotifyDeauthorizationRequested: CommandMessage {
        package init() {}
    }

    /// The access token of this generation was refused. Of many equal requests one is acted upon.
    package struct SpotifyTokenRefreshRequested: CommandMessage {
        /// Which token: the vault counts them.
        package var generation: Int

        package init(generation: Int) {
            self.generation = generation
        }
    }

    /// Make a focus playlist of this one.
    package struct PlaylistSelected: CommandMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }

    /// Play the generated playlist on the active Spotify device.
    package struct PlayOnSpotifyRequested: CommandMessage {
        package init() {}
    }

    /// Play on this device.
    package struct DeviceSelected: CommandMessage {
        package var deviceID: String

        package init(deviceID: String) {
            self.deviceID = deviceID
        }
    }

    /// Show the playlist in the Spotify app instead.
    package struct DidRequestOpenPlaylistOnSpotify: CommandMessage {
        package init() {}
    }

    /// Leave for another app.
    package struct OpenAnotherAppRequested: CommandMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }
}
