package import Vocabulary

/// Playlists and their songs, from wherever they are at hand.
package protocol PlaylistRepository: Sendable {
    /// All of the connected account's playlists, in its order. To be asked first whenever an account is connected.
    /// - Throws: ``MusicError``, as the next.
    func playlists() async throws -> [Playlist]

    /// All songs of a playlist, in its order.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]

    /// The songs of a playlist as they were fetched last, from what is kept alone; nil if they never were.
    func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]?

    /// Drops all that is kept: the account is gone.
    func forget() async
}
