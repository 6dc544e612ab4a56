/// One song of a playlist.
package struct Song: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    /// The Spotify URI that a player takes.
    package var uri: String
    package var title: String
    package var artist: String
    /// In milliseconds.
    package var duration: Int

    package init(id: String, uri: String, title: String, artist: String, duration: Int) {
        self.id = id
        self.uri = uri
        self.title = title
        self.artist = artist
        self.duration = duration
    }
}
