/// The track object.
struct TrackPayload: Encodable, Sendable {
    let album: Album
    let artists: [Artist]
    let discNumber = 1
    let durationMs: Int
    let explicit = false
    let externalUrls: [String: String]
    let href: String
    let id: String
    let isLocal = false
    let isPlayable = true
    let name: String
    let type = "track"
    let uri: String

    struct Artist: Encodable, Sendable {
        let externalUrls: [String: String]
        let href: String
        let id: String
        let name: String
        let type = "artist"
        let uri: String
    }

    struct Album: Encodable, Sendable {
        let albumType = "album"
        let artists: [Artist]
        let externalUrls: [String: String]
        let href: String
        let id: String
        let images: [String] = []
        let name: String
        let type = "album"
        let uri: String
    }

    init(_ song: Song, base: APIBase) {
        let artist = Artist(
            externalUrls: ["spotify": "https://open.spotify.com/artist/\(song.artistID)"],
            href: base.url("artists/\(song.artistID)"),
            id: song.artistID,
            name: song.artist,
            uri: "spotify:artist:\(song.artistID)"
        )
        album = Album(
            artists: [artist],
            externalUrls: ["spotify": "https://open.spotify.com/album/\(song.albumID)"],
            href: base.url("albums/\(song.albumID)"),
            id: song.albumID,
            name: song.album,
            uri: "spotify:album:\(song.albumID)"
        )
        artists = [artist]
        durationMs = song.durationInMilliseconds
        externalUrls = ["spotify": "https://open.spotify.com/track/\(song.id)"]
        href = base.url("tracks/\(song.id)")
        id = song.id
        name = song.title
        uri = "spotify:track:\(song.id)"
    }
}
