import HTTPTypes
import Hummingbird

/// The Web API's reading side: who the user is, and the playlists.
struct CatalogueRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me`
    func profile(_ request: Request, _ context: SimulatorContext) async throws -> ProfilePayload {
        let base = APIBase(request)
        let scopes = context.scopes
        return try await simulation.update { state, _ in
            ProfilePayload(state.catalogue.user, isPremium: state.player.isPremium, scopes: scopes, base: base)
        }
    }

    /// `GET /v1/me/playlists`
    func playlists(_ request: Request, _ context: SimulatorContext) async throws -> Page<PlaylistPayload> {
        let base = APIBase(request)
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let user = state.catalogue.user
            return Page(of: state.catalogue.playlists, range: range, url: base.url("me/playlists")) { playlist in
                let owner = UserPayload(playlist.owner, account: user, base: base)
                return PlaylistPayload(playlist, owner: owner, base: base)
            }
        }
    }

    /// `GET /v1/playlists/{id}/items`
    func items(_ request: Request, _ context: SimulatorContext) async throws -> Page<PlaylistItemPayload> {
        let base = APIBase(request)
        let id = try context.parameters.require("id")
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let playlist = try state.listablePlaylist(id)
            let owner = UserPayload(playlist.owner, account: state.catalogue.user, base: base)
            return Page(of: playlist.songs, range: range, url: base.url("playlists/\(id)/items")) {
                PlaylistItemPayload(addedBy: owner, item: TrackPayload($0, base: base))
            }
        }
    }

    /// `GET /v1/playlists/{id}/tracks`: the deprecated name of `items`, closed to new applications.
    func tracks(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        throw WebAPIError.forbidden
    }
}

extension Page: ResponseGenerator, ResponseEncodable {}

/// The part of a list that a request asks for.
struct PageRange: Sendable, Equatable {
    /// From 1 to 50, 20 unless said.
    let limit: Int
    /// From 0 to 100,000, 0 unless said.
    let offset: Int

    /// - Parameter query: The decoded query.
    /// - Throws: A 400 when a number is out of range or is none.
    init(_ query: [String: String]) throws(WebAPIError) {
        guard let limit = Int(query["limit"] ?? "20"), (1...50).contains(limit) else {
            throw .badRequest("Invalid limit")
        }
        guard let offset = Int(query["offset"] ?? "0"), (0...100_000).contains(offset) else {
            throw .badRequest("Invalid offset")
        }
        self.limit = limit
        self.offset = offset
    }
}

/// A page of a longer list, with absolute links to its neighbours.
struct Page<Item: Encodable & Sendable>: Encodable, Sendable {
    let href: String
    let items: [Item]
    let limit: Int
    let next: String?
    let offset: Int
    let previous: String?
    let total: Int

    /// - Parameters:
    ///   - all: The whole list.
    ///   - range: Which part is asked for.
    ///   - url: The list's address, without a query.
    ///   - item: What to show for an element.
    init<Element>(of all: [Element], range: PageRange, url: String, item: (Element) -> Item) {
        func link(_ offset: Int) -> String { "\(url)?offset=\(offset)&limit=\(range.limit)" }
        let end = range.offset + range.limit
        href = link(range.offset)
        items = all.dropFirst(range.offset).prefix(range.limit).map(item)
        limit = range.limit
        next = end < all.count ? link(end) : nil
        offset = range.offset
        previous = range.offset > 0 ? link(max(0, range.offset - range.limit)) : nil
        total = all.count
    }

    private enum CodingKeys: String, CodingKey {
        case href, items, limit, next, offset, previous, total
    }

    /// `next` and `previous` are there even when they are null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(href, forKey: .href)
        try container.encode(items, forKey: .items)
        try container.encode(limit, forKey: .limit)
        try container.encode(next, forKey: .next)
        try container.encode(offset, forKey: .offset)
        try container.encode(previous, forKey: .previous)
        try container.encode(total, forKey: .total)
    }
}

/// The private user object, with what the token's scopes let the client see.
struct ProfilePayload: ResponseEncodable {
    let displayName: String
    let email: String?
    let externalUrls: [String: String]
    let href: String
    let id: String
    let product: String?
    let type = "user"
    let uri: String

    init(_ user: Catalogue.User, isPremium: Bool, scopes: Set<Scope>, base: APIBase) {
        displayName = user.name
        email = scopes.contains(.userReadEmail) ? user.email : nil
        externalUrls = ["spotify": "https://open.spotify.com/user/\(user.id)"]
        href = base.url("users/\(user.id)")
        id = user.id
        product = scopes.contains(.userReadPrivate) ? (isPremium ? "premium" : "free") : nil
        uri = "spotify:user:\(user.id)"
    }
}

/// The public user object.
struct UserPayload: Encodable, Sendable {
    let displayName: String
    let externalUrls: [String: String]
    let href: String
    let id: String
    let type = "user"
    let uri: String

    /// - Parameters:
    ///   - id: Whose.
    ///   - account: The one user whose name the catalogue tells; others are called by their id.
    init(_ id: String, account: Catalogue.User, base: APIBase) {
        displayName = id == account.id ? account.name : id
        externalUrls = ["spotify": "https://open.spotify.com/user/\(id)"]
        href = base.url("users/\(id)")
        self.id = id
        uri = "spotify:user:\(id)"
    }
}

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

    init(_ playlist: Catalogue.Playlist, owner: UserPayload, base: APIBase) {
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

/// An entry of a playlist. The track stands in `item`; its older name `track` is deprecated.
struct PlaylistItemPayload: Encodable, Sendable {
    let addedAt = "2026-01-01T00:00:00Z"
    let addedBy: UserPayload
    let isLocal = false
    let item: TrackPayload
}

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

    init(_ song: Catalogue.Song, base: APIBase) {
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

/// Where the client reached the Web API, so that links lead back the same way.
struct APIBase: Sendable {
    private let authority: String

    init(_ request: Request) {
        authority = request.head.authority ?? "127.0.0.1"
    }

    /// The absolute URL of a path under `/v1`.
    func url(_ path: String) -> String { "http://\(authority)/v1/\(path)" }
}
