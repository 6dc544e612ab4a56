internal import Vocabulary

/// The simplified playlist object.
struct PlaylistPayload: Decodable {
    struct Owner: Decodable {
        let id: String?
        let displayName: String?
    }

    struct Contents: Decodable {
        let total: Int?
    }

    let id: String
    let name: String?
    let owner: Owner?
    let items: Contents?
    /// The older name of `items`.
    let tracks: Contents?

    var playlist: Playlist {
        Playlist(
            id: id, name: name ?? "", owner: owner?.displayName ?? owner?.id ?? "",
            songCount: (items ?? tracks)?.total ?? 0)
    }
}
