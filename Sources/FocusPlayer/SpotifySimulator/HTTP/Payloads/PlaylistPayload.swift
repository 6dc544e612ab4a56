/// The simplified playlist object.
struct PlaylistPayload: Encodable, Sendable {
    let collaborative: Bool
    let description: String
    let externalUrls: [String: String]
    let href: String
    let id: String
    let images: [String] = []
    let items: Items
    let name: String
    let owner: UserPayload
    let `public` = false
    let snapshotId: String
    let type = "playlist"
    let uri: String

    /// Where the items are, and how many.
    struct Items: Encodable, Sendable {
        let href: String
        let total: Int
    }

    init(_ playlist: Playlist, owner: UserPayload, base: APIBase) {
        collaborative = playlist.isCollaborative
        description = playlist.description
        externalUrls = ["spotify": "https://open.spotify.com/playlist/\(playlist.id)"]
        href = base.url("playlists/\(playlist.id)")
        id = playlist.id
        items = Items(href: base.url("playlists/\(playlist.id)/items"), total: playlist.songs.count)
        name = playlist.name
        self.owner = owner
        // The catalogue doesn't change while the simulator runs.
        snapshotId = playlist.id
        uri = "spotify:playlist:\(playlist.id)"
    }
}
