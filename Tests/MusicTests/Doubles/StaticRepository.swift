import Music
import Vocabulary

/// Gives what it was given.
struct StaticRepository: PlaylistRepository {
    var lists: Result<[Playlist], any Error> = .success([])
    var contents: Result<[Song], any Error> = .success([])
    var kept: [Playlist.ID: [Song]] = [:]

    func playlists() async throws -> [Playlist] { try lists.get() }
    func songs(of playlistID: Playlist.ID) async throws -> [Song] { try contents.get() }
    func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]? { kept[playlistID] }
    func forget() async {}
}
