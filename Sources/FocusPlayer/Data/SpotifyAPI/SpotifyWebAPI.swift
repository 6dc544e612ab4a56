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
    /// The number of items in a page. Spotify allows at most 50.
    private static let pageSize = 50
    /// The maximum number of times that a list is read again because it changed, or could have changed, while it was
    /// read.
    private static let maximumRestarts = 3

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
    ///   - now: returns the current time, at which the position of a playback is measured.
    package init(
        tokens: any AccessTokens, client: HTTPClient, host: BaseURL = .spotifyAPI,
        policy: RateLimitPolicy = RateLimitPolicy(), limits: OperationLimits = OperationLimits(),
        session: String = "default", kept: KeptPages = KeptPages(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.host = host
        self.tokens = tokens
        self.limits = limits
        self.session = session
        self.kept = kept
        self.now = now
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

    private func put(_ pathAndQuery: String, _ body: some Encodable & Sendable, about what: String) async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let request = HTTPClient.Request(
            .put, host.url(pathAndQuery), headers: [.contentType: "application/json"], body: try encoder.encode(body))
        try await sendChange(request, about: what)
    }

    /// Sends a request that changes the playback.
    private func sendChange(_ request: HTTPClient.Request, about what: String) async throws {
        _ = try await send(request, within: limits.change, about: what)
    }

    /// - Parameter limit: the maximum time of all attempts with one token. Nil for that of the ``RateLimitPolicy``.
    private func send(
        _ request: HTTPClient.Request, within limit: Duration? = nil, about what: String
    ) async throws -> SpotifyReply {
        let first = try await tokens.current()
        let reply = try await transport.send(request, with: first, within: limit)
        guard reply.status == .unauthorized else { return try checked(reply, first, what) }
        let second = try await tokens.newer(thanRefused: first.generation)
        return try checked(try await transport.send(request, with: second, within: limit), second, what)
    }

    private func checked(_ reply: SpotifyReply, _ token: AccessToken, _ what: String) throws -> SpotifyReply {
        guard reply.isSuccess else { throw MusicError(reply, generation: token.generation, about: what) }
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
        /// The path and query of the first page.
        let first: String
        let what: String
        let item: @Sendable (Payload) -> Item?
        /// The path and query of the list's version. Nil if Spotify gives none.
        var version: String?
        /// The identity of an item, if a list contains no item twice.
        var identity: (@Sendable (Item) -> String)?
        /// The query parameter of each page. Spotify's links to further pages are not documented to repeat it.
        var market: String?

        /// The URL of a page with the market.
        func url(of page: String) -> String {
            guard let market, !page.contains(#/[?&]market=/#.byScalar) else { return page }
            return "\(page)\(page.unicodeScalars.contains("?") ? "&" : "?")market=\(market)"
        }
    }

    /// Fetches all items of a list, page by page. Waits if Spotify asks for it. If reading is interrupted, the pages are
    /// kept, and the next call continues after them.
    ///
    /// Spotify's pages begin at offsets. An item that is added or removed meanwhile would shift the items of later
    /// pages, so a list that has changed is read again. A list of several pages without a version is unchanged if it
    /// has the same items when it is read a second time.
    private func list<Payload, Item>(_ request: ListRequest<Payload, Item>) async throws -> [Item] {
        let late = MusicError.unavailable("\(request.what) could not be read within \(limits.list)")
        return try await withTimeLimit(limits.list, orThrow: late) { try await read(request) }
    }

    private func read<Payload, Item>(_ request: ListRequest<Payload, Item>) async throws -> [Item] {
        let start = request.url(of: host.url(request.first))
        // Without an account there is nothing to read. If the account is missing later, it has been disconnected.
        _ = try await tokens.current()
        let (reading, former): (_, PagedList<Item>?) = kept.begin(KeptPages.Key(session: session, url: start))
        defer { kept.end(reading) }
        var list = former ?? PagedList(from: start)
        var waits = Waits(limit: limits.waits, policy: transport.policy)
        var restarts = 0
        func countRestart() throws {
            restarts += 1
            guard restarts <= Self.maximumRestarts else {
                throw PagingFailure(.unavailable("\(request.what) changed each time while it was read"))
            }
        }
        do {
            while true {
                if let url = list.next {
                    guard host.isOrigin(of: url) else {
                        throw PagingFailure(.unavailable("the answer names a next page on another host"))
                    }
                    let page = try await waits.run {
                        try await get(request.url(of: url), as: PagePayload<Payload>.self, about: request.what)
                    }
                    let isSame = try add(page, to: &list, request)
                    // Only a list of several pages can change between two of them. Its version must be older than its
                    // first page, which is therefore read again.
                    if isSame, list.visited.count == 1, list.next != nil, list.version == nil,
                        let version = try await version(request, &waits)
                    {
                        list = PagedList(from: start, version: version)
                    }
                    if isSame { continue }
                } else if list.visited.count <= 1 {
                    return list.items
                } else if let identity = request.identity {
                    let now = list.items.map(identity).joined(separator: "\n")
                    if now == list.version { return list.items.unique(by: identity) }
                    try countRestart()
                    list = PagedList(from: start, version: now)
                    continue
                } else if let former = list.version {
                    let now = try await version(request, &waits)
                    if now == nil || now == former { return list.items }
                } else {
                    return list.items
                }
                try countRestart()
                list = PagedList(from: start, version: try await version(request, &waits))
            }
        } catch let failure as PagingFailure {
            throw failure.error
        } catch MusicError.notAuthorized {
            throw MusicError.authorizationEnded
        } catch {
            if error.isInterruption, list.isBegun { kept.keep(list, of: reading) }
            throw error
        }
    }

    private func add<Payload, Item>(
        _ page: PagePayload<Payload>, to list: inout PagedList<Item>, _ request: ListRequest<Payload, Item>
    ) throws -> Bool {
        do {
            return try list.add(page, request.item)
        } catch PagingError.tooLong(let limit) {
            throw PagingFailure(.tooLong("\(request.what)", limit: limit))
        } catch PagingError.tooManyPages(let limit) {
            throw PagingFailure(.unavailable("the list has more than \(limit) pages"))
        } catch PagingError.repeats {
            throw PagingFailure(.unavailable("the pages of the list repeat"))
        }
    }

    /// The version of the list's content. Nil if Spotify does not tell it.
    private func version<Payload, Item>(
        _ request: ListRequest<Payload, Item>, _ waits: inout Waits
    ) async throws -> String? {
        guard let path = request.version else { return nil }
        do {
            return try await waits.run {
                try await get(host.url(path), as: PlaylistVersionPayload.self, about: request.what)
            }.snapshotId?.value
        } catch MusicError.notFound, MusicError.forbidden {
            return nil
        }
    }
}

/// An error of a list's pages. Reading cannot continue after them.
private struct PagingFailure: Error {
    let error: MusicError

    init(_ error: MusicError) {
        self.error = error
    }
}

/// The waits of one operation because of rate limits. Their total time is limited.
private struct Waits {
    let limit: Duration
    let policy: RateLimitPolicy
    private var waited = Duration.zero

    init(limit: Duration, policy: RateLimitPolicy) {
        self.limit = limit
        self.policy = policy
    }

    /// Repeats a request while Spotify names a time to wait that is within the limit.
    mutating func run<Result>(_ request: () async throws -> Result) async throws -> Result {
        while true {
            do {
                return try await request()
            } catch MusicError.rateLimited(let wait?) where waited + wait <= limit {
                // A server that asks for no time at all must not be asked without an end.
                let wait = max(wait, .seconds(1))
                waited += wait
                try await policy.sleep(wait)
            }
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

extension Array {
    /// The first element of each identity.
    fileprivate func unique(by identity: (Element) -> String) -> [Element] {
        var known: Set<String> = []
        return filter { known.insert(identity($0)).inserted }
    }
}

extension SpotifyWebAPI: MusicCatalog {
    package func account() async throws -> String {
        let profile = try await limited {
            try await get(host.url("/v1/me"), as: ProfilePayload.self, about: "the account")
        }
        guard let id = ServerText.identifier(profile.id) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        kept.note(account: id, of: session)
        return id
    }

    package func playlists() async throws -> [Playlist] {
        try await list(
            ListRequest(
                first: "/v1/me/playlists?limit=\(Self.pageSize)", what: "the list of playlists",
                item: { (payload: PlaylistPayload) in payload.playlist }, identity: \.id))
    }

    /// Returns only songs that can be played. Podcast episodes and local files are left out.
    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let what = "the playlist \(ServerMessage.line(playlistID))"
        // The id comes from a message, so it may be invalid. The ids `.` and `..` would change the path of the URL.
        guard !playlistID.isEmpty, !playlistID.unicodeScalars.allSatisfy({ $0 == "." }) else {
            throw MusicError.notFound(what)
        }
        let path = "/v1/playlists/\(PercentEncoding.encode(playlistID))"
        return try await list(
            ListRequest(
                first: "\(path)/items?limit=\(Self.pageSize)", what: what,
                item: { (payload: PlaylistEntryPayload) in payload.song }, version: "\(path)?fields=snapshot_id",
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

    package func devices() async throws -> [Device] {
        try await limited {
            try await get(host.url("/v1/me/player/devices"), as: DevicesPayload.self, about: "the devices").controllable
        }
    }

    /// Plays the first ``maximumSongsPerCall`` songs. Further songs are not played.
    package func play(_ songs: [Song], on deviceID: Device.ID?) async throws {
        let query = deviceID.map { "?device_id=\(PercentEncoding.encode($0))" } ?? ""
        let playback = PlayRequest(uris: songs.prefix(Self.maximumSongsPerCall).map(\.uri))
        try await limited { try await put("/v1/me/player/play\(query)", playback, about: "the device") }
    }

    package func transfer(to deviceID: Device.ID) async throws {
        try await limited {
            try await put("/v1/me/player", Transfer(deviceIds: [deviceID]), about: "the device")
        }
    }

    package func playback() async throws -> Playback? {
        let reply = try await limited {
            try await send(HTTPClient.Request(.get, host.url("/v1/me/player")), about: "the player")
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
        try await limited { try await sendChange(request, about: "the device") }
    }
}

extension MusicError {
    /// The Web API's error: `{"error": {"status", "message", "reason"?}}`.
    private struct Payload: Decodable {
        struct Details: Decodable {
            let message: Tolerant<String>?
            let reason: Tolerant<String>?
        }
        let error: Details
    }

    /// - Parameters:
    ///   - generation: the generation of the request's token.
    ///   - what: the object of the request, for example `the playlist 37i9`.
    init(_ reply: SpotifyReply, generation: Int, about what: String) {
        let details = reply.decode(Payload.self)?.error
        let line = (details?.message?.value ?? reply.plainText).map(ServerMessage.line)
        let reason = line.flatMap { $0.isEmpty ? nil : $0 }
        switch (reply.status.code, details?.reason?.value) {
        case (401, _):
            self = .unauthorized(generation: generation)
        case (403, "PREMIUM_REQUIRED"):
            self = .premiumRequired
        case (403, _):
            self = .forbidden(reason ?? "no reason was given")
        case (404, "NO_ACTIVE_DEVICE"):
            self = .noActiveDevice
        case (404, _):
            self = .notFound(what)
        case (429, _):
            self = .rateLimited(retryAfter: reply.retryAfter)
        case (400..<500, _):
            self = .forbidden(reason ?? "status \(reply.status.code)")
        default:
            self = .unavailable("the server answered with status \(reply.status.code)")
        }
    }
}

extension SpotifyTransport {
    fileprivate func send(
        _ request: HTTPClient.Request, with token: AccessToken, within limit: Duration?
    ) async throws -> SpotifyReply {
        var request = request
        request.headers[.authorization] = "Bearer \(token.value)"
        do {
            return try await send(request, within: limit)
        } catch let failure as HTTPClient.Failure {
            throw MusicError.unavailable(failure.description)
        }
    }
}
