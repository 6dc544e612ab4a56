internal import Foundation
package import HTTPClient
internal import HTTPTypes
package import Music
package import Vocabulary

/// The Web API of api.spotify.com for one account.
///
/// If Spotify refuses the access token, the token is renewed and the request is sent once more.
package struct SpotifyWebAPI: Sendable {
    /// The number of items in a page. Spotify allows at most 50.
    private static let pageSize = 50
    /// The maximum number of pages of a list. A longer list is an error. These pages contain up to 10,000 items.
    private static let maximumPages = 200

    private let host: BaseURL
    private let tokens: any AccessTokens
    private let transport: SpotifyTransport

    package init(
        tokens: any AccessTokens, client: HTTPClient, host: BaseURL = .spotifyAPI,
        policy: RateLimitPolicy = RateLimitPolicy()
    ) {
        self.host = host
        self.tokens = tokens
        transport = SpotifyTransport(client: client, policy: policy)
    }

    /// - Parameter what: the object of the request, for the error if Spotify does not find it.
    private func get<Value: Decodable>(
        _ url: String, as type: Value.Type = Value.self, about what: String
    ) async throws -> Value {
        let reply = try await send(HTTPClient.Request(.get, url), about: what)
        guard let value = reply.decode(type) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        return value
    }

    private func put(_ pathAndQuery: String, _ body: some Encodable, about what: String) async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let request = HTTPClient.Request(
            .put, host.url(pathAndQuery), headers: [.contentType: "application/json"], body: try encoder.encode(body))
        _ = try await send(request, about: what)
    }

    private func send(_ request: HTTPClient.Request, about what: String) async throws -> SpotifyReply {
        let first = try await tokens.current()
        let reply = try await transport.send(request, with: first)
        guard reply.status == .unauthorized else { return try checked(reply, first, what) }
        let second = try await tokens.newer(thanRefused: first.generation)
        return try checked(try await transport.send(request, with: second), second, what)
    }

    private func checked(_ reply: SpotifyReply, _ token: AccessToken, _ what: String) throws -> SpotifyReply {
        guard reply.isSuccess else { throw MusicError(reply, generation: token.generation, about: what) }
        return reply
    }

    /// Fetches all items of a list, page by page.
    ///
    /// The server gives the URL of the next page. The token is sent to this URL only if it is on the same host.
    /// - Parameter first: the path and query of the first page.
    private func pages<Item: Decodable>(from first: String, about what: String) async throws -> [Item] {
        var items: [Item] = []
        var visited: Set<String> = []
        var next: String? = host.url(first)
        while let url = next {
            guard host.isOrigin(of: url) else {
                throw MusicError.unavailable("the answer names a next page on another host")
            }
            guard visited.insert(url).inserted, visited.count <= Self.maximumPages else {
                throw MusicError.unavailable("the list has too many pages, or its pages repeat")
            }
            let page = try await get(url, as: PagePayload<Item>.self, about: what)
            items += page.items.compactMap(\.value)
            next = page.next
        }
        return items
    }
}

extension SpotifyWebAPI: MusicCatalog {
    package func account() async throws -> String {
        try await get(host.url("/v1/me"), as: ProfilePayload.self, about: "the account").id
    }

    package func playlists() async throws -> [Playlist] {
        let items: [PlaylistPayload] = try await pages(
            from: "/v1/me/playlists?limit=\(Self.pageSize)", about: "the account's playlists")
        return items.map(\.playlist)
    }

    /// Returns only songs. Podcast episodes and local files are left out.
    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let what = "the playlist \(ServerMessage.line(playlistID))"
        // The id comes from a message, so it may be invalid. The ids `.` and `..` would change the path of the URL.
        guard !playlistID.isEmpty, !playlistID.allSatisfy({ $0 == "." }) else { throw MusicError.notFound(what) }
        let entries: [PlaylistEntryPayload] = try await pages(
            from: "/v1/playlists/\(FormEncoding.escape(playlistID))/items?limit=\(Self.pageSize)", about: what)
        return entries.compactMap(\.song)
    }
}

extension SpotifyWebAPI: Player {
    /// The maximum number of songs in one call.
    package static let maximumSongsPerCall = 100

    private struct Playback: Encodable {
        let uris: [String]
    }

    private struct Transfer: Encodable {
        /// Spotify accepts exactly one id.
        let deviceIds: [String]
        let play = false
    }

    package func devices() async throws -> [Device] {
        try await get(host.url("/v1/me/player/devices"), as: DevicesPayload.self, about: "the devices").controllable
    }

    /// Plays the first ``maximumSongsPerCall`` songs. Further songs are not played.
    package func play(_ songs: [Song], on deviceID: Device.ID?) async throws {
        let query = deviceID.map { "?device_id=\(FormEncoding.escape($0))" } ?? ""
        try await put(
            "/v1/me/player/play\(query)", Playback(uris: songs.prefix(Self.maximumSongsPerCall).map(\.uri)),
            about: "the device")
    }

    package func transfer(to deviceID: Device.ID) async throws {
        try await put("/v1/me/player", Transfer(deviceIds: [deviceID]), about: "the device")
    }
}

extension MusicError {
    /// The Web API's error: `{"error": {"status", "message", "reason"?}}`.
    private struct Payload: Decodable {
        struct Details: Decodable {
            let message: String?
            let reason: String?
        }
        let error: Details
    }

    /// - Parameters:
    ///   - generation: the generation of the request's token.
    ///   - what: the object of the request, for example `the playlist 37i9`.
    init(_ reply: SpotifyReply, generation: Int, about what: String) {
        let details = reply.decode(Payload.self)?.error
        switch (reply.status.code, details?.reason) {
        case (401, _):
            self = .unauthorized(generation: generation)
        case (403, "PREMIUM_REQUIRED"):
            self = .premiumRequired
        case (403, _):
            self = .forbidden(ServerMessage.line(details?.message ?? "no reason was given"))
        case (404, "NO_ACTIVE_DEVICE"):
            self = .noActiveDevice
        case (404, _):
            self = .notFound(what)
        case (429, _):
            self = .rateLimited(retryAfter: reply.retryAfter)
        case (400..<500, _):
            self = .forbidden(ServerMessage.line(details?.message ?? "status \(reply.status.code)"))
        default:
            self = .unavailable("the server answered with status \(reply.status.code)")
        }
    }
}

extension SpotifyTransport {
    fileprivate func send(_ request: HTTPClient.Request, with token: AccessToken) async throws -> SpotifyReply {
        var request = request
        request.headers[.authorization] = "Bearer \(token.value)"
        do {
            return try await send(request)
        } catch let failure as HTTPClient.Failure {
            throw MusicError.unavailable(failure.description)
        }
    }
}
