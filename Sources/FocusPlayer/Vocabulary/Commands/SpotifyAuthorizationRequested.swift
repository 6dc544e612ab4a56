package import Contracts
internal import EventBus

extension Command {
    /// Connect the app with a Spotify account.
    package struct SpotifyAuthorizationRequested: CommandMessage {
        package init() {}
    }
}
