internal import Vocabulary

/// An entry of a playlist. Its song may be null, an episode, or a local file without an id.
struct PlaylistEntryPayload: Decodable {
    struct Track: Decodable {
        struct Artist: Decodable {
            let name: String?
        }

        let id: String?
        let uri: String?
        let type: String?
        let name: String?
        let artists: [Artist]?
        let durationMs: Int?
    }

    let isLocal: Bool?
    let item: Track?

    /// nil unless a player can be told to play it.
    var song: Song? {
        guard isLocal != true, let item, let id = item.id, let uri = item.uri, item.type ?? "track" == "track" else {
            return nil
        }
        return Song(
            id: id, uri: uri, title: item.name ?? "",
            artist: (item.artists ?? []).compactMap(\.name).joined(separator: ", "), duration: item.durationMs ?? 0)
    }
}
