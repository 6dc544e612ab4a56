package import Contracts
internal import EventBus

extension DomainEvent {
    /// The user's playlists are there: see the document.
    package struct PlaylistsLoaded: EventMessage {
        package init() {}
    }
}
