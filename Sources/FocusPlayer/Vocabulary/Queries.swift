package import Contracts
internal import EventBus

extension Query {
    /// Asks for the songs of a playlist as they were last fetched, in the playlist's order.
    package struct PlaylistSongs: QueryMessage {
        package struct Answer: Codable, Hashable, Sendable {
            package var songs: [Song]

            package init(songs: [Song]) {
                self.songs = songs
            }
        }

        package var playlistID: String

        package init(playlistID: String) {
            self.playlistID = playlistID
        }
    }
}
