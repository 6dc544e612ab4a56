/// What a list of playlists shows of one.
package struct Playlist: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    package var name: String
    /// Who made it.
    package var owner: String
    package var songCount: Int

    package init(id: String, name: String, owner: String, songCount: Int) {
        self.id = id
        self.name = name
        self.owner = owner
        self.songCount = songCount
    }
}
