package import Contracts
internal import EventBus

extension Command {
    /// Play the generated playlist on the active Spotify device.
    package struct PlayOnSpotifyRequested: CommandMessage {
        package init() {}
    }
}
