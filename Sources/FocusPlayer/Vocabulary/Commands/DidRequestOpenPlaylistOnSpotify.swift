package import Contracts
internal import EventBus

extension Command {
    /// Show the playlist in the Spotify app instead.
    package struct DidRequestOpenPlaylistOnSpotify: CommandMessage {
        package init() {}
    }
}
