package import Contracts
internal import EventBus

extension Command {
    /// Make a focus playlist of this one.
    package struct PlaylistSelected: CommandMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }
}
