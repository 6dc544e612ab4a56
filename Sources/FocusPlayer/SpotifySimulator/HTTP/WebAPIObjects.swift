import Hummingbird

/// A field that is encoded as `null` if it has no value.
struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    let value: Value?

    init(_ value: Value?) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A user, playlist, track, album or artist: the common fields, and the fields of the object's type.
struct WebAPIObject<Fields: Encodable & Sendable>: ResponseEncodable, Sendable {
    let type: String
    let id: String
    let href: String
    let fields: Fields

    private enum CodingKeys: String, CodingKey {
        case externalUrls, href, id, type, uri
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(["spotify": "https://open.spotify.com/\(type)/\(id)"], forKey: .externalUrls)
        try container.encode(href, forKey: .href)
        try container.encode(id, forKey: .id)
        try container.encode(type, forKey: .type)
        try container.encode("spotify:\(type):\(id)", forKey: .uri)
        try fields.encode(to: encoder)
    }
}

/// A user, as the owner of a playlist.
struct UserFields: Encodable, Sendable {
    let displayName: String
}

/// The user of the account. `email` and `product` are nil unless the client has the scopes for them.
struct ProfileFields: Encodable, Sendable {
    let accountId: String
    let displayName: String
    var email: String?
    let images: [String] = []
    var product: String?
}

/// Spotify's simplified playlist object.
struct PlaylistFields: Encodable, Sendable {
    /// The number of items, and the link to them.
    struct Items: Encodable, Sendable {
        let href: String
        let total: Int
    }

    let collaborative: Bool
    let description: String
    let images: [String] = []
    let items: Items
    let name: String
    let owner: WebAPIObject<UserFields>
    let `public` = false
    let snapshotId: String
}

/// An entry of a playlist. The track is in `item`; its older name `track` is deprecated.
struct PlaylistItem: Encodable, Sendable {
    let addedAt = "2026-01-01T00:00:00Z"
    let addedBy: WebAPIObject<UserFields>
    let isLocal = false
    let item: WebAPIObject<TrackFields>
}

struct TrackFields: Encodable, Sendable {
    struct Artist: Encodable, Sendable {
        let name: String
    }

    struct Album: Encodable, Sendable {
        let albumType = "album"
        let artists: [WebAPIObject<Artist>]
        let availableMarkets = Library.markets
        let images: [String] = []
        let name: String
        let releaseDate: String
        let releaseDatePrecision = "day"
        let restrictions: [String: String]?
        let totalTracks: Int
    }

    let album: WebAPIObject<Album>
    let artists: [WebAPIObject<Artist>]
    let availableMarkets: [String]
    let discNumber = 1
    let durationMs: Int
    let explicit = false
    let externalIds: [String: String]
    let isLocal = false
    /// Nil if the request names no market: Spotify then does not say whether the track can be played.
    let isPlayable: Bool?
    let name: String
    let restrictions: [String: String]?
    let trackNumber: Int
}

/// Creates the objects of an answer. Their links use the address at which the client reached the Web API.
struct WebAPILinks: Sendable {
    private let authority: String
    /// False if the request's market has no songs. Nil if the request names no market.
    private let marketHasSongs: Bool?

    /// - Throws: An error with the status 400 if the request's `market` is invalid.
    init(_ request: Request) throws {
        authority = request.head.authority ?? "127.0.0.1"
        marketHasSongs = try request.queryFields()["market"].map(Library.hasSongs(market:))
    }

    /// The absolute URL of a path under `/v1`.
    func url(_ path: String) -> String { "http://\(authority)/v1/\(path)" }

    func object<Fields>(type: String, id: String, fields: Fields) -> WebAPIObject<Fields> {
        WebAPIObject(type: type, id: id, href: url("\(type)s/\(id)"), fields: fields)
    }

    /// - Parameter account: The user of the request's account. For other users, the id is the name.
    func owner(of playlist: Catalogue.Playlist, account: Catalogue.User) -> WebAPIObject<UserFields> {
        let name = playlist.owner == account.id ? account.name : playlist.owner
        return object(type: "user", id: playlist.owner, fields: UserFields(displayName: name))
    }

    func playlist(_ playlist: Catalogue.Playlist, account: Catalogue.User) -> WebAPIObject<PlaylistFields> {
        let items = PlaylistFields.Items(href: url("playlists/\(playlist.id)/items"), total: playlist.songs.count)
        // The catalogue does not change while the simulator runs, so the id is also the snapshot id.
        let fields = PlaylistFields(
            collaborative: playlist.isCollaborative, description: playlist.description, items: items,
            name: playlist.name, owner: owner(of: playlist, account: account), snapshotId: playlist.id)
        return object(type: "playlist", id: playlist.id, fields: fields)
    }

    func track(_ song: Catalogue.Song, in library: Library) -> WebAPIObject<TrackFields> {
        let place = library.place(of: song)
        let markets = library.markets(of: song)
        let isPlayable = marketHasSongs.map { $0 && !markets.isEmpty }
        let restrictions = isPlayable == false ? ["reason": "market"] : nil
        let artist = object(type: "artist", id: song.artistID, fields: TrackFields.Artist(name: song.artist))
        let album = object(
            type: "album", id: song.albumID,
            fields: TrackFields.Album(
                artists: [artist], name: song.album, releaseDate: song.releaseDate,
                restrictions: marketHasSongs == false ? restrictions : nil, totalTracks: place.total))
        let fields = TrackFields(
            album: album, artists: [artist], availableMarkets: markets, durationMs: song.durationInMilliseconds,
            externalIds: ["isrc": song.isrc], isPlayable: isPlayable, name: song.title, restrictions: restrictions,
            trackNumber: place.number)
        return object(type: "track", id: song.id, fields: fields)
    }
}
