package import Contracts
internal import EventBus

extension Command {
    /// The access token of this generation was refused. Of many equal requests one is acted upon.
    package struct SpotifyTokenRefreshRequested: CommandMessage {
        /// Which token: the vault counts them.
        package var generation: Int

        package init(generation: Int) {
            self.generation = generation
        }
    }
}
