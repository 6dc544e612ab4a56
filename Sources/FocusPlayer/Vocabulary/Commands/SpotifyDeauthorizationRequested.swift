package import Contracts
internal import EventBus

extension Command {
    /// Forget the Spotify account.
    package struct SpotifyDeauthorizationRequested: CommandMessage {
        package init() {}
    }
}
