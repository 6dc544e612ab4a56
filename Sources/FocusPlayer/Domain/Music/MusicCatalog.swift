package import Vocabulary

/// The music that an account knows, at its source.
package protocol MusicCatalog: Sendable {
    /// The id of the connected account.
    /// - Throws: ``MusicError``, as all of these.
    func account() async throws -> String

    /// All of the account's playlists, in its order.
    func playlists() async throws -> [Playlist]

    /// All songs of a playlist, in its order.
    /// - Throws: ``MusicError/notFound(_:)`` if there is no such playlist.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]
}
