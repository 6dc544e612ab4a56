package import Contracts
internal import EventBus

extension Document {
    /// The shuffled focus playlist.
    package struct GeneratedPlaylist: DocumentMessage {
        package enum Status: String, Codable, Sendable, CaseIterable {
            /// Published at once, so that nothing stale shows.
            case loading
            case ready
            case failed
        }

        package var playlistID: String
        package var status: Status
        /// Empty unless ready.
        package var songs: [Song]

        package init(playlistID: String, status: Status, songs: [Song] = []) {
            self.playlistID = playlistID
            self.status = status
            self.songs = songs
        }
    }
}
