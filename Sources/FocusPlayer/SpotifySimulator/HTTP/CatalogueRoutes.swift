import HTTPTypes
import Hummingbird

/// The routes of the Web API that return the user and the playlists.
struct CatalogueRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me`
    func profile(_ request: Request, _ context: SimulatorContext) async throws -> WebAPIObject<UserFields> {
        let links = WebAPILinks(request)
        let scopes = context.scopes
        return try await simulation.update { state, _ in
            let account = state.accounts[context.account]
            let user = account.catalogue.user
            var fields = UserFields(displayName: user.name)
            if scopes.contains(.userReadEmail) { fields.email = user.email }
            if scopes.contains(.userReadPrivate) { fields.product = account.player.isPremium ? "premium" : "free" }
            return links.object("user", user.id, fields)
        }
    }

    /// `GET /v1/me/playlists`
    func playlists(
        _ request: Request, _ context: SimulatorContext
    ) async throws -> PagingObject<WebAPIObject<PlaylistFields>> {
        let links = WebAPILinks(request)
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let account = state.accounts[context.account].catalogue
            return PagingObject(of: account.playlists, range: range, url: links.url("me/playlists")) {
                links.playlist($0, account: account.user)
            }
        }
    }

    /// `GET /v1/playlists/{id}/items`
    func items(_ request: Request, _ context: SimulatorContext) async throws -> PagingObject<PlaylistItem> {
        let links = WebAPILinks(request)
        let id = try context.parameters.require("id")
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let account = state.accounts[context.account].catalogue
            let playlist = try state.listablePlaylist(id, account: account)
            let owner = links.owner(of: playlist, account: account.user)
            return PagingObject(of: playlist.songs, range: range, url: links.url("playlists/\(id)/items")) {
                PlaylistItem(addedBy: owner, item: links.track($0))
            }
        }
    }

    /// `GET /v1/playlists/{id}/tracks`: the deprecated name of `items`. The answer is an error with the status 403.
    func tracks(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        throw WebAPIError.forbidden
    }
}

/// The part of a list that a client requests.
struct PageRange: Sendable, Equatable {
    /// The maximum number of items in the page, from 1 to 50. 20 by default.
    let limit: Int
    /// The number of items before the page, from 0 to 100,000. 0 by default.
    let offset: Int

    /// - Parameter query: The decoded query.
    /// - Throws: An error with the status 400 if a value is not a number or is out of range.
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

/// A page of a list, with absolute links to the next and the previous page.
struct PagingObject<Item: Encodable & Sendable>: ResponseEncodable, Sendable {
    /// A link. It is encoded as `null` if there is no URL.
    struct Link: Encodable, Sendable {
        let url: String?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(url)
        }
    }

    let href: String
    let items: [Item]
    let limit: Int
    let next: Link
    let offset: Int
    let previous: Link
    let total: Int

    /// - Parameters:
    ///   - all: The whole list.
    ///   - range: The requested part.
    ///   - url: The URL of the list, without a query.
    ///   - item: Converts an element into the form of the answer.
    init<Element>(of all: [Element], range: PageRange, url: String, item: (Element) -> Item) {
        func link(_ offset: Int) -> String { "\(url)?offset=\(offset)&limit=\(range.limit)" }
        let end = range.offset + range.limit
        href = link(range.offset)
        items = all.dropFirst(range.offset).prefix(range.limit).map(item)
        limit = range.limit
        next = Link(url: end < all.count ? link(end) : nil)
        offset = range.offset
        previous = Link(url: range.offset > 0 ? link(max(0, range.offset - range.limit)) : nil)
        total = all.count
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

/// A user. `email` and `product` are nil unless the client has the scopes for them.
struct UserFields: Encodable, Sendable {
    let displayName: String
    var email: String?
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
        let images: [String] = []
        let name: String
    }

    let album: WebAPIObject<Album>
    let artists: [WebAPIObject<Artist>]
    let discNumber = 1
    let durationMs: Int
    let explicit = false
    let isLocal = false
    let isPlayable = true
    let name: String
}

/// Creates the objects of an answer. Their links use the address at which the client reached the Web API.
private struct WebAPILinks: Sendable {
    private let authority: String

    init(_ request: Request) {
        authority = request.head.authority ?? "127.0.0.1"
    }

    /// The absolute URL of a path under `/v1`.
    func url(_ path: String) -> String { "http://\(authority)/v1/\(path)" }

    func object<Fields>(_ type: String, _ id: String, _ fields: Fields) -> WebAPIObject<Fields> {
        WebAPIObject(type: type, id: id, href: url("\(type)s/\(id)"), fields: fields)
    }

    /// - Parameter account: The user of the request's account. For other users, the id is the name.
    func owner(of playlist: Catalogue.Playlist, account: Catalogue.User) -> WebAPIObject<UserFields> {
        let name = playlist.owner == account.id ? account.name : playlist.owner
        return object("user", playlist.owner, UserFields(displayName: name))
    }

    func playlist(_ playlist: Catalogue.Playlist, account: Catalogue.User) -> WebAPIObject<PlaylistFields> {
        let items = PlaylistFields.Items(href: url("playlists/\(playlist.id)/items"), total: playlist.songs.count)
        // The catalogue does not change while the simulator runs, so the id is also the snapshot id.
        let fields = PlaylistFields(
            collaborative: playlist.isCollaborative, description: playlist.description, items: items,
            name: playlist.name, owner: owner(of: playlist, account: account), snapshotId: playlist.id)
        return object("playlist", playlist.id, fields)
    }

    func track(_ song: Catalogue.Song) -> WebAPIObject<TrackFields> {
        let artist = object("artist", song.artistID, TrackFields.Artist(name: song.artist))
        let album = object("album", song.albumID, TrackFields.Album(artists: [artist], name: song.album))
        let fields = TrackFields(
            album: album, artists: [artist], durationMs: song.durationInMilliseconds, name: song.title)
        return object("track", song.id, fields)
    }
}
