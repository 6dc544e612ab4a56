package import Contracts
internal import EventBus
package import Support

extension Query {
    /// Asks for a page of the songs of a playlist, as they were last fetched. If the session's focus playlist was made
    /// from this playlist, the songs are in the order of the focus playlist; otherwise in the playlist's own order.
    package struct PlaylistSongs: QueryMessage {
        package struct Answer: Codable, Hashable, Sendable {
            /// The number of songs of the playlist.
            @BoundedCount package var total: Int
            /// At most ``Song/pageSize`` bytes of JSON. Empty if `offset` is not below `total`.
            package var songs: [Song]

            package init(total: Int, songs: [Song]) {
                self.total = total
                self.songs = songs
            }
        }

        package var playlistID: String
        /// The number of songs before the page. The next page begins after the last song of this one. Nil for 0.
        package var offset: Int?

        package init(playlistID: String, offset: Int? = nil) {
            self.playlistID = playlistID
            self.offset = offset
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                playlistID: try container.decode(String.self, forKey: .playlistID),
                offset: try container.decodeIfPresent(BoundedCount<Int>.self, forKey: .offset)?.wrappedValue)
        }
    }
}
