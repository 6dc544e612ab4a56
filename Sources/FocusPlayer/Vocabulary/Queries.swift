package import Contracts
internal import EventBus

extension Query {
    /// The songs of a playlist as they were fetched last, in the playlist's order.
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
