package import Contracts
internal import EventBus

extension Document {
    /// The user's playlists, in the order of the account.
    package struct Playlists: DocumentMessage {
        package var playlists: [Playlist]

        package init(playlists: [Playlist]) {
            self.playlists = playlists
        }
    }
}
