package import Foundation
package import HTTPClient
internal import HTTPTypes
package import Music
internal import Support
package import Vocabulary

/// The Web API of api.spotify.com for one account.
///
/// If Spotify refuses the access token, the token is renewed and the request is sent once more.
package struct SpotifyWebAPI: Sendable {
    private let host: BaseURL
    private let tokens: any AccessTokens
    private let transport: SpotifyTransport
    private let limits: OperationLimits
    private let session: String
    private let kept: KeptPages
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - session: the session whose account is used.
    ///   - kept: the pages of lists whose reading was interrupted. Objects for the same session share it.
    ///   - rateLimit: the wait for which Spotify has asked. All objects of a process share it.
    ///   - now: returns the current time, at which the position of a playback is measured.
    package init(
        tokens: any AccessTokens, client: HTTPClient, host: BaseURL = .spotifyAPI,
        policy: RateLimitPolicy = RateLimitPolicy(), limits: OperationLimits = OperationLimits(),
        session: String = "default", kept: KeptPages = KeptPages(), rateLimit: SharedRateLimit = SharedRateLimit(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.host = host
        self.tokens = tokens
        self.limits = limits
        self.session = session
        self.kept = kept
        self.now = now
        transport = SpotifyTransport(client: client, policy: policy, rateLimit: rateLimit)
    }

    /// - Parameters:
    ///   - attempts: the maximum number of attempts. Nil for that of the ``RateLimitPolicy``.
    ///   - object: the object of the request, for an error.
    private func get<Value: Decodable>(
        _ url: String, as type: Value.Type = Value.self, attempts: Int? = nil, about object: MusicError.Object
    ) async throws -> Value {
        let reply = try await send(HTTPClient.Request(.get, url), attempts: attempts, about: object)
        guard let value = reply.decode(type) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        return value
    }

    private func put(_ pathAndQuery: String, _ body: some Encodable & Sendable) async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let request = HTTPClient.Request(
            .put, host.url(pathAndQuery), headers: [.contentType: "application/json"], body: try encoder.encode(body))
        try await sendChange(request)
    }

    /// Sends a request that changes the playback.
    private func sendChange(_ request: HTTPClient.Request) async throws {
        _ = try await send(request, within: limits.change, about: .device)
    }

    /// - Parameter limit: the maximum time of all attempts with one token. Nil for that of the ``RateLimitPolicy``.
    private func send(
        _ request: HTTPClient.Request, within limit: Duration? = nil, attempts: Int? = nil,
        about object: MusicError.Object
    ) async throws -> SpotifyReply {
        func attempt(with token: AccessToken) async throws -> SpotifyReply {
            var request = request
            request.headers[.authorization] = "Bearer \(token.value)"
            do {
                return try await transport.send(request, within: limit, attempts: attempts)
            } catch let failure as HTTPClient.Failure {
                throw MusicError.unavailable(failure.description)
            }
        }
        var token = try await tokens.current()
        var reply = try await attempt(with: token)
        if reply.status == .unauthorized {
            token = try await tokens.newer(thanRefused: token.generation)
            reply = try await attempt(with: token)
        }
        guard reply.isSuccess else { throw MusicError(reply, generation: token.generation, about: object) }
        return reply
    }

    /// Runs an operation of one or a few requests within ``OperationLimits/call``.
    private func limited<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withTimeLimit(limits.call, orThrow: MusicError.unavailable("no answer in time"), operation)
    }
}

/// The maximum times of operations.
package struct OperationLimits: Sendable {
    /// The maximum time of an operation that is not a list: all its requests, retries and the renewal of the token.
    let call: Duration
    /// The maximum time of all attempts of a request that changes the playback, without the renewal of the token. It is
    /// short, because the later commands of the session wait meanwhile, and expire after a minute.
    let change: Duration
    /// The maximum time in which a list is read.
    let list: Duration
    /// The maximum time that reading a list waits because of rate limits, in total.
    let waits: Duration

    package init(
        call: Duration = .seconds(25), change: Duration = .seconds(10), list: Duration = .seconds(300),
        waits: Duration = .seconds(240)
    ) {
        self.call = call
        self.change = change
        self.list = list
        self.waits = waits
    }
}

// MARK: Lists

extension SpotifyWebAPI {
    /// A list, and the way in which it is read.
    private struct ListRequest<Payload: Decodable & SendableMetatype, Item: Sendable>: Sendable {
        /// The path of the list, without a query.
        let path: String
        let object: MusicError.Object
        let item: @Sendable (Payload) -> Item?
        /// The list without pages.
        let empty: ListReading<Item>
        /// The path and query of the list's version. Nil if Spotify gives none.
        var version: String?
        /// The query parameter of each page. Nil after Spotify has refused it.
        var market: String?

        /// The path and query of a page.
        func page(at offset: Int) -> String {
            let market = market.map { "&market=\($0)" } ?? ""
            return "\(path)?limit=\(ListReading<Item>.pageSize)&offset=\(offset)\(market)"
        }
    }

    /// Fetches all items of a list, page by page. Waits if Spotify asks for it. If reading is interrupted, the pages
    /// are kept, and the next call continues after them.
    private func list<Payload, Item>(_ request: ListRequest<Payload, Item>) async throws -> [Item] {
        let late = MusicError.unavailable("\(request.object) could not be read within \(limits.list)")
        let deadline = transport.policy.now() + limits.list
        return try await withTimeLimit(limits.list, orThrow: late) { try await read(request, until: deadline) }
    }

    private func read<Payload, Item>(
        _ request: ListRequest<Payload, Item>, until deadline: ContinuousClock.Instant
    ) async throws -> [Item] {
        // Without an account there is nothing to read. If the account is missing later, it has been disconnected.
        _ = try await tokens.current()
        let (reading, former): (_, ListReading<Item>?) = kept.begin(
            KeptPages.Key(session: session, path: request.path))
        defer { kept.end(reading) }
        var request = request
        var list = former ?? request.empty
        list.resume()
        // The waits of all requests count together, so no request of the list waits on its own.
        var waits = RateLimitWaits(
            transport.policy, longest: limits.waits, total: limits.waits, count: .max, deadline: deadline)
        do {
            while let next = list.next {
                do {
                    switch next {
                    case .page(let offset): try list.receive(try await page(at: offset, request))
                    case .version: list.receive(version: try await version(request))
                    }
                } catch MusicError.rateLimited(let wait) {
                    guard try await waits.wait(for: wait) else { throw MusicError.rateLimited(retryAfter: wait) }
                } catch let refusal as MusicError where request.market != nil && refusal.names("market", "scope") {
                    // Spotify does not document this market, and it may need a scope that the app does not request.
                    request.market = nil
                }
            }
            return list.items
        } catch MusicError.notAuthorized {
            throw MusicError.authorizationEnded
        } catch {
            if error.isInterruption, list.isBegun { kept.keep(list, of: reading) }
            throw error
        }
    }

    private func page<Payload, Item>(
        at offset: Int, _ request: ListRequest<Payload, Item>
    ) async throws -> ListReading<Item>.Page {
        let url = host.url(request.page(at: offset))
        return try await get(url, as: PagePayload<Payload>.self, attempts: 1, about: request.object).page(request.item)
    }

    /// The version of the list's content. Nil if Spotify does not tell it.
    private func version<Payload, Item>(_ request: ListRequest<Payload, Item>) async throws -> String? {
        guard let path = request.version else { return nil }
        do {
            return try await get(
                host.url(path), as: PlaylistVersionPayload.self, attempts: 1, about: request.object
            ).snapshotId?.value
        } catch MusicError.notFound, MusicError.forbidden, MusicError.playlistForbidden, MusicError.unavailable {
            return nil
        }
    }
}

extension Error {
    /// True if the same request may succeed later.
    fileprivate var isInterruption: Bool {
        switch self as? MusicError {
        case .rateLimited, .unavailable, .renewalOverdue: true
        case nil: self is CancellationError
        default: false
        }
    }
}

extension SpotifyWebAPI: MusicCatalog {
    package func account() async throws -> String {
        let profile = try await limited {
            try await get(host.url("/v1/me"), as: ProfilePayload.self, about: .account)
        }
        guard let id = ServerText.identifier(profile.id) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        kept.record(account: id, of: session)
        return id
    }

    package func playlists() async throws -> [Playlist] {
        try await list(
            ListRequest(
                path: "/v1/me/playlists", object: .playlists, item: { (payload: PlaylistPayload) in payload.playlist },
                empty: ListReading(.playlists, hasVersion: false, isUnique: true, identity: \.id)))
    }

    /// Returns only songs that can be played: tracks that are available.
    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let object = MusicError.Object.playlist(ServerMessage.line(playlistID))
        // The id comes from a message, so it may be invalid. The ids `.` and `..` would change the path of the URL.
        guard !playlistID.isEmpty, !playlistID.unicodeScalars.allSatisfy({ $0 == "." }) else {
            throw MusicError.notFound(object)
        }
        let path = "/v1/playlists/\(PercentEncoding.encode(playlistID))"
        return try await list(
            ListRequest(
                path: "\(path)/items", object: object, item: { (payload: PlaylistEntryPayload) in payload.song },
                empty: ListReading(object, hasVersion: true, isUnique: false, identity: \.uri),
                version: "\(path)?fields=snapshot_id",
                // Spotify tells which songs can be played only if a request names a market: here the account's country.
                market: "from_token"))
    }
}

extension SpotifyWebAPI: Player {
    /// The maximum number of songs in one call.
    package static let maximumSongsPerCall = 100

    private struct PlayRequest: Encodable {
        let uris: [String]
    }

    private struct Transfer: Encodable {
        /// Spotify accepts exactly one id.
        let deviceIds: [String]
        let play = false
    }

    package func speakers() async throws -> [Speaker] {
        try await limited {
            try await get(host.url("/v1/me/player/devices"), as: DevicesPayload.self, about: .devices).controllable
        }
    }

    /// Plays the first ``maximumSongsPerCall`` songs. Further songs are not played.
    package func play(_ songs: [Song], on deviceID: Speaker.ID?) async throws {
        let query = deviceID.map { "?device_id=\(PercentEncoding.encode($0))" } ?? ""
        let playback = PlayRequest(
            uris: songs.lazy.filter(\.isTrack).prefix(Self.maximumSongsPerCall).map(\.uri))
        try await limited { try await put("/v1/me/player/play\(query)", playback) }
    }

    package func transfer(to deviceID: Speaker.ID) async throws {
        try await limited {
            try await put("/v1/me/player", Transfer(deviceIds: [deviceID]))
        }
    }

    package func playback() async throws -> Playback? {
        let reply = try await limited {
            try await send(HTTPClient.Request(.get, host.url("/v1/me/player")), about: .playback)
        }
        // Status 204: no device is active.
        if reply.body.isEmpty { return nil }
        guard let player = reply.decode(PlayerPayload.self) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        return player.playback(at: Int(now().timeIntervalSince1970 * 1000))
    }

    package func change(_ change: PlaybackChange) async throws {
        let (method, path): (HTTPRequest.Method, String) =
            switch change {
            case .pause: (.put, "pause")
            case .resume: (.put, "play")
            case .next: (.post, "next")
            case .previous: (.post, "previous")
            case .seek(let position): (.put, "seek?position_ms=\(position)")
            case .volume(let percent): (.put, "volume?volume_percent=\(percent)")
            }
        // The body is empty and not nil, so that the request has a `Content-Length`.
        let request = HTTPClient.Request(method, host.url("/v1/me/player/\(path)"), body: Data())
        try await limited { try await sendChange(request) }
    }
}

extension MusicError {
    /// - Parameters:
    ///   - generation: the generation of the request's token.
    ///   - object: the object of the request.
    init(_ reply: SpotifyReply, generation: Int, about object: Object) {
        let error = ServerError(reply)
        let line = error.message.map(ServerMessage.line)
        let reason = line.flatMap { $0.isEmpty ? nil : $0 }
        switch (reply.status.code, error.code) {
        case (401, _):
            self = .unauthorized(generation: generation)
        case (403, "PREMIUM_REQUIRED"):
            self = .premiumRequired
        case (403, _):
            let refusal = MusicError.forbidden(reason ?? "no reason was given")
            if case .playlist = object, !refusal.names("scope") {
                self = .playlistForbidden(reason ?? "no reason was given")
            } else {
                self = refusal
            }
        case (404, "NO_ACTIVE_DEVICE"):
            self = .noActiveDevice
        case (404, _):
            self = .notFound(object)
        case (429, _):
            self = .rateLimited(retryAfter: reply.retryAfter)
        case (400..<500, _):
            self = .forbidden(reason ?? "status \(reply.status.code)")
        default:
            self = .unavailable("the server answered with status \(reply.status.code)")
        }
    }

    /// True if the reason of a refusal names one of these words, of which the Web API has no code.
    fileprivate func names(_ words: String...) -> Bool {
        switch self {
        case .forbidden(let reason), .playlistForbidden(let reason):
            let reason = reason.lowercased()
            return words.contains(where: reason.contains(scalars:))
        default:
            return false
        }
    }
}
