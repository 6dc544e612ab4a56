package import Contracts
internal import EventBus
package import Support

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
        @BoundedCount package var generation: Int

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

    /// Shows what the account plays, and follows it until no screen of the session shows it any more.
    package struct NowPlayingRequested: CommandMessage {
        package init() {}
    }

    /// Pauses the music on the active device.
    package struct PauseRequested: CommandMessage {
        package init() {}
    }

    /// Resumes the paused music on the active device.
    package struct ResumeRequested: CommandMessage {
        package init() {}
    }

    /// Plays the next song.
    package struct NextSongRequested: CommandMessage {
        package init() {}
    }

    /// Plays the previous song.
    package struct PreviousSongRequested: CommandMessage {
        package init() {}
    }

    /// Continues at another position of the song.
    package struct SeekRequested: CommandMessage {
        /// The position in milliseconds. A position beyond the end begins the next song.
        @BoundedCount package var position: Int

        package init(position: Int) {
            self.position = position
        }
    }

    /// Sets the volume of the active device.
    package struct VolumeRequested: CommandMessage {
        /// The volume in percent, 0 to 100.
        @BoundedCount package var percent: Int

        package init(percent: Int) {
            self.percent = percent
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
