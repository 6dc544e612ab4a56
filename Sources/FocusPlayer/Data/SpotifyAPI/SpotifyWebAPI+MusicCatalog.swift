internal import Music
package import Vocabulary

extension SpotifyWebAPI: MusicCatalog {
    package func account() async throws -> String {
        try await get(host.url("/v1/me"), as: ProfilePayload.self, about: "the account").id
    }

    package func playlists() async throws -> [Playlist] {
        let items: [PlaylistPayload] = try await pages(
            from: "/v1/me/playlists?limit=\(Self.pageSize)", about: "the account's playlists")
        return items.map(\.playlist)
    }

    /// Songs only: podcast episodes and files from somebody's own disk are left out, as a player cannot be told to play
    /// them everywhere.
    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let what = "the playlist \(ServerMessage.line(playlistID))"
        // An id comes from a message. Spotify's are letters and digits; `..` would be another resource.
        guard !playlistID.isEmpty, !playlistID.allSatisfy({ $0 == "." }) else { throw MusicError.notFound(what) }
        let entries: [PlaylistEntryPayload] = try await pages(
            from: "/v1/playlists/\(FormEncoding.escape(playlistID))/items?limit=\(Self.pageSize)", about: what)
        return entries.compactMap(\.song)
    }
}
