package import Contracts
internal import EventBus

extension DomainEvent {
    /// The generated playlist is ready: see the document.
    package struct PlaylistShuffled: EventMessage {
        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }
}
