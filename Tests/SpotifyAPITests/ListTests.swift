import Foundation
import HTTPClient
import Music
import SpotifyAPI
import SpotifyTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite("Long lists of Spotify's Web API", .timeLimit(.minutes(1)))
struct ListTests {
    func api(
        _ client: HTTPClient, _ host: BaseURL, limits: OperationLimits = OperationLimits(),
        kept: KeptPages = KeptPages()
    ) -> SpotifyWebAPI {
        SpotifyWebAPI(
            tokens: CountingTokens(), client: client, host: host, policy: .impatient, limits: limits, kept: kept)
    }

    /// The number of the songs in a list of `count` songs.
    func numbers(_ count: Int) -> [String] { (0..<count).map { "s\($0)" } }

    @Test("A rate limit in the middle of a list is waited for, and no page is read twice")
    func waits() async throws {
        let playlist = ServedPlaylist(songs: numbers(250))
        playlist.refuse(after: 4, retryAfter: 30)
        try await playlist.serve { client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.map(\.id) == numbers(250))
        }
        // The first page is read again after the version.
        #expect(playlist.pages == [0, 0, 50, 100, 150, 200])
    }

    @Test("The pages are kept if the wait is too long, and the next attempt continues after them")
    func continues() async throws {
        let playlist = ServedPlaylist(songs: numbers(250))
        playlist.refuse(after: 4, retryAfter: 3000)
        let kept = KeptPages()
        try await playlist.serve { client, host in
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(3000))) {
                try await api(client, host, kept: kept).songs(of: "p")
            }
            #expect(playlist.pages == [0, 0, 50])
            let songs = try await api(client, host, kept: kept).songs(of: "p")
            #expect(songs.map(\.id) == numbers(250))
        }
        #expect(playlist.pages == [0, 0, 50, 100, 150, 200])
    }

    @Test("Pages without a song are kept, too")
    func continuesAfterLocalFiles() async throws {
        let playlist = ServedPlaylist(songs: Array(repeating: "local", count: 50) + numbers(60))
        playlist.refuse(after: 3, retryAfter: 3000)
        let kept = KeptPages()
        try await playlist.serve { client, host in
            await #expect(throws: MusicError.self) { try await api(client, host, kept: kept).songs(of: "p") }
            #expect(playlist.pages == [0, 0])
            let songs = try await api(client, host, kept: kept).songs(of: "p")
            #expect(songs.map(\.id) == numbers(60))
        }
        #expect(playlist.pages == [0, 0, 50, 100])
    }

    @Test("Each page of songs is requested with the account's country, although the links omit it")
    func market() async throws {
        let playlist = ServedPlaylist(songs: numbers(120))
        try await playlist.serve { client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.count == 120)
        }
        let pages = playlist.lines.filter { $0.contains("/items") }
        #expect(pages.count == 4 && pages.allSatisfy { $0.hasSuffix("&market=from_token") }, "\(pages)")
    }

    @Test("A list of playlists of one page is read once, a longer one until two passes are equal")
    func playlistPasses() async throws {
        for (count, pages) in [(50, [0]), (120, [0, 50, 100, 0, 50, 100])] {
            let list = ServedPlaylist(songs: numbers(count))
            try await list.serve { client, host in
                let playlists = try await api(client, host).playlists()
                #expect(playlists.map(\.id) == numbers(count))
            }
            #expect(list.pages == pages)
        }
    }

    @Test("A list of playlists that changes while it is paged is read again, also if its length stays the same")
    func playlistChanges() async throws {
        for edit in [["new"] + numbers(120), numbers(120).dropFirst() + ["new"]] {
            let list = ServedPlaylist(songs: numbers(120))
            list.change(songs: edit, after: 1)
            try await list.serve { client, host in
                let playlists = try await api(client, host).playlists()
                #expect(playlists.map(\.id) == edit)
            }
        }
    }

    @Test("The second pass over a list of playlists continues after a wait that was too long")
    func playlistPassContinues() async throws {
        let list = ServedPlaylist(songs: numbers(60))
        list.refuse(after: 2, retryAfter: 3000)
        let kept = KeptPages()
        try await list.serve { client, host in
            await #expect(throws: MusicError.self) { try await api(client, host, kept: kept).playlists() }
            let playlists = try await api(client, host, kept: kept).playlists()
            #expect(playlists.map(\.id) == numbers(60))
        }
        #expect(list.pages == [0, 50, 0, 50])
    }

    @Test("The last pass counts if a list of playlists changes in each pass")
    func playlistUnrest() async throws {
        let count = Mutex(0)
        try await ScriptedSpotify.with { server, client, host in
            server.answer { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let next = request.line.contains("offset=0") ? #""\#(host)/v1/me/playlists?offset=1""# : "null"
                return .init(body: #"{"next":\#(next),"total":2,"items":[{"id":"p\#(number)"}]}"#)
            }
            let playlists = try await api(client, host).playlists()
            #expect(playlists.map(\.id) == ["p7", "p8"])
            #expect(server.received.count == 8)
        }
    }

    @Test("Pages of an account are not used for another one, or after they are removed")
    func accounts() async throws {
        let kept = KeptPages()
        for change in ["account", "forget"] {
            let playlist = ServedPlaylist(songs: numbers(120))
            try await playlist.serve { client, host in
                _ = try await api(client, host, kept: kept).account()
                playlist.refuse(after: 3, retryAfter: 3000)
                await #expect(throws: MusicError.self) { try await api(client, host, kept: kept).songs(of: "p") }
                if change == "forget" {
                    kept.forget("default")
                } else {
                    playlist.change(account: "bert")
                    _ = try await api(client, host, kept: kept).account()
                }
                _ = try await api(client, host, kept: kept).songs(of: "p")
            }
            #expect(playlist.pages.filter { $0 == 0 }.count == 4, "\(change)")
        }
    }

    @Test("Pages that are read while the account changes or is removed are not kept", arguments: [false, true])
    func accountChangesMeanwhile(isForgotten: Bool) async throws {
        let kept = KeptPages()
        let playlist = ServedPlaylist(songs: numbers(120))
        try await playlist.serve { client, host in
            let policy = RateLimitPolicy(sleep: { _ in
                if isForgotten {
                    kept.forget("default")
                } else {
                    playlist.change(account: "bert")
                    _ = try await api(client, host, kept: kept).account()
                }
                throw CancellationError()
            })
            let interrupted = SpotifyWebAPI(
                tokens: CountingTokens(), client: client, host: host, policy: policy, kept: kept)
            _ = try await interrupted.account()
            playlist.refuse(after: 3, retryAfter: 30)
            await #expect(throws: CancellationError.self) { try await interrupted.songs(of: "p") }
            let pages = playlist.pages
            _ = try await api(client, host, kept: kept).songs(of: "p")
            #expect(playlist.pages.dropFirst(pages.count).first == 0)
        }
    }

    @Test("A disconnection while a list is read is not an error of its own")
    func disconnectedMeanwhile() async throws {
        final class Tokens: AccessTokens {
            let isConnected = Mutex(true)
            func current() async throws -> AccessToken {
                guard isConnected.withLock(\.self) else { throw MusicError.notAuthorized }
                return AccessToken(value: "t", generation: 1)
            }
            func newer(thanRefused generation: Int) async throws -> AccessToken { try await current() }
        }
        let tokens = Tokens()
        let playlist = ServedPlaylist(songs: numbers(120))
        playlist.refuse(after: 0, retryAfter: 30)
        try await playlist.serve { client, host in
            let policy = RateLimitPolicy.impatient { _ in tokens.isConnected.withLock { $0 = false } }
            let api = SpotifyWebAPI(tokens: tokens, client: client, host: host, policy: policy)
            await #expect(throws: MusicError.authorizationEnded) { try await api.songs(of: "p") }
            await #expect(throws: MusicError.notAuthorized) { try await api.songs(of: "p") }
        }
    }

    @Test("The number of requests to a server that always asks to wait is limited", arguments: [0, 2])
    func endlessLimit(seconds: Int) async throws {
        let playlist = ServedPlaylist(songs: numbers(120))
        playlist.refuse(after: 0, retryAfter: seconds, count: .max)
        try await playlist.serve { client, host in
            let limits = OperationLimits(waits: .seconds(10))
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(seconds))) {
                try await api(client, host, limits: limits).songs(of: "p")
            }
        }
        #expect(playlist.requests <= 36)
    }

    @Test("A list that changes while it is paged is read again, without a duplicate or a loss")
    func changes() async throws {
        for edit in [["new"] + numbers(160), Array(numbers(160).dropFirst()), numbers(160).reversed()] {
            let playlist = ServedPlaylist(songs: numbers(160))
            playlist.change(songs: edit, after: 4)
            try await playlist.serve { client, host in
                let songs = try await api(client, host).songs(of: "p")
                #expect(songs.map(\.id) == edit)
            }
        }
    }

    @Test("A list that changes between two attempts is read again, despite its kept pages")
    func changesMeanwhile() async throws {
        let playlist = ServedPlaylist(songs: numbers(160))
        playlist.refuse(after: 4, retryAfter: 3000)
        let kept = KeptPages()
        try await playlist.serve { client, host in
            await #expect(throws: MusicError.self) { try await api(client, host, kept: kept).songs(of: "p") }
            playlist.change(songs: numbers(160).reversed(), after: playlist.requests)
            let songs = try await api(client, host, kept: kept).songs(of: "p")
            #expect(songs.map(\.id) == numbers(160).reversed())
        }
    }

    @Test("A song that is in a playlist twice is kept twice")
    func twice() async throws {
        let songs = numbers(60) + numbers(60)
        try await ServedPlaylist(songs: songs).serve { client, host in
            let read = try await api(client, host).songs(of: "p")
            #expect(read.map(\.id) == songs)
        }
    }

    @Test("Ten thousand songs are read, and a longer list is refused at the first page")
    func tooLong() async throws {
        try await ServedPlaylist(songs: numbers(10_000)).serve { client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.count == 10_000)
        }
        let longer = ServedPlaylist(songs: numbers(10_001))
        try await longer.serve { client, host in
            await #expect(throws: MusicError.tooLong(.playlist("p"), limit: 10_000)) {
                try await api(client, host).songs(of: "p")
            }
        }
        #expect(longer.requests == 1)
    }

    @Test("A list has a time limit for all its pages, however steadily they arrive")
    func overallLimit() async throws {
        let playlist = ServedPlaylist(songs: numbers(10_000), delay: .milliseconds(20))
        try await playlist.serve { client, host in
            let limits = OperationLimits(list: .milliseconds(200))
            let expected = MusicError.unavailable("the playlist p could not be read within 0.2 seconds")
            await #expect(throws: expected) { try await api(client, host, limits: limits).songs(of: "p") }
        }
        #expect(playlist.requests < 100)
    }

    @Test("Minor fields in another form lose no song, and unplayable songs are left out")
    func tolerance() async throws {
        let body = #"""
            {"next":null,"total":"9","items":[
                {"is_local":"false","item":{"id":"a","uri":"spotify:track:a","name":"A","duration_ms":"1500","artists":[null,{"name":"X"}]}},
                {"item":{"id":"b","uri":"spotify:track:b","name":7,"duration_ms":1500.4,"artists":"none","type":null}},
                {"is_local":null,"item":{"id":"c","uri":"spotify:track:c","name":null,"duration_ms":-1,"artists":[{"name":9}]}},
                {"item":{"id":"d","uri":"spotify:track:d","name":"D\u0000\u202e\nd","duration_ms":1e400,"artists":null}},
                {"item":{"id":"e","uri":"spotify:track:e","name":"E","is_playable":false}},
                {"item":{"id":"f","uri":"spotify:track:f","name":"F","restrictions":{"reason":"market"}}},
                {"item":{"id":"g","uri":"spotify:track:g","name":"G","is_playable":true,"restrictions":{}}},
                {"item":{"id":"h\u0000","uri":"spotify:track:h","name":"H"}}, {"item":{"id":9,"uri":"spotify:track:i","name":"I"}}]}
            """#.replacing("1e400", with: "\"many\"")
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.map(\.id) == ["a", "b", "c", "d", "g"])
            #expect(songs.map(\.title) == ["A", "", "", "D d", "G"])
            #expect(songs.map(\.artist) == ["X", "", "", "", ""])
            #expect(songs.map(\.duration) == [1500, 1500, 0, 0, 0])
        }
    }

    @Test(
        "An entry whose URI is not that of a track is left out, whatever its type says",
        arguments: [
            "spotify:episode:e", "spotify:local:a:b:c:1", "spotify:album:a", "spotify:track:", "spotify:track:a:b",
            "spotify:track:\u{301}", "spotify:track:a b", "track:a", "https://open.spotify.com/track/a",
            "SPOTIFY:TRACK:A",
        ])
    func otherURI(uri: String) async throws {
        let body = """
            {"next":null,"items":[{"item":{"id":"a","uri":"\(uri)"}},{"item":{"id":"b","uri":"spotify:track:b"}}]}
            """
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.map(\.id) == ["b"])
        }
    }

    @Test("A song without a market is left out, unless Spotify says that it can be played")
    func markets() async throws {
        let body = #"""
            {"next":null,"items":[
                {"item":{"id":"a","uri":"spotify:track:a","available_markets":[]}},
                {"item":{"id":"b","uri":"spotify:track:b","available_markets":["SE"]}},
                {"item":{"id":"c","uri":"spotify:track:c","available_markets":[],"is_playable":true}},
                {"item":{"id":"d","uri":"spotify:track:d","available_markets":["SE"],"is_playable":false}},
                {"item":{"id":"e","uri":"spotify:track:e","available_markets":null}}]}
            """#
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(songs.map(\.id) == ["b", "c", "e"])
        }
    }

    @Test("Minor fields of playlists and devices in another form lose no playlist and no device")
    func tolerantObjects() async throws {
        let playlists = #"""
            {"next":null,"items":[{"id":"a","name":1,"owner":"anna","items":{"total":"3"}},
            {"id":"b","name":"B\u202e","owner":{"id":7,"display_name":[]},"items":7,"tracks":{"total":2.0}}]}
            """#
        try await ScriptedSpotify.with(.init(body: playlists)) { _, client, host in
            let read = try await api(client, host).playlists()
            #expect(
                read == [
                    Playlist(id: "a", name: "", owner: "", songCount: 3),
                    Playlist(id: "b", name: "B", owner: "", songCount: 2),
                ])
        }
        let devices = #"{"devices":[{"id":"k","name":3,"type":null,"is_active":"true","is_restricted":0}]}"#
        try await ScriptedSpotify.with(.init(body: devices)) { _, client, host in
            let read = try await api(client, host).speakers()
            #expect(read == [Speaker(id: "k", name: "k", type: "Unknown", isActive: true)])
        }
    }

    @Test("An operation has a limit for all its requests and for the renewal of its token")
    func operationLimit() async throws {
        struct Never: AccessTokens {
            func current() async throws -> AccessToken { AccessToken(value: "t", generation: 1) }
            func newer(thanRefused generation: Int) async throws -> AccessToken {
                try await Task.sleep(for: .seconds(3600))
                return try await current()
            }
        }
        try await ScriptedSpotify.with(.init(status: 401)) { _, client, host in
            let api = SpotifyWebAPI(
                tokens: Never(), client: client, host: host, limits: OperationLimits(call: .milliseconds(200)))
            let expected = MusicError.unavailable("no answer in time")
            await #expect(throws: expected) { try await api.account() }
            await #expect(throws: expected) { try await api.speakers() }
            await #expect(throws: expected) { try await api.transfer(to: "k") }
            await #expect(throws: expected) { try await api.play([], on: nil) }
        }
    }

    @Test("A change of the playback has its own time limit for all attempts of its request")
    func changeLimit() async throws {
        try await FaultySpotify.with(.endlessBody) { server, client, host in
            let api = SpotifyWebAPI(
                tokens: CountingTokens(), client: client, host: host,
                limits: OperationLimits(change: .milliseconds(300)))
            let expected = MusicError.unavailable("no answer in time")
            await #expect(throws: expected) { try await api.change(.volume(40)) }
            await #expect(throws: expected) { try await api.transfer(to: "k") }
            await #expect(throws: expected) { try await api.play([], on: nil) }
            #expect(server.requests == 3)
        }
    }

    @Test("A body that arrives slowly without an end has the time limit of its request")
    func trickle() async throws {
        try await FaultySpotify.with(.endlessBody) { server, client, host in
            let policy = RateLimitPolicy(overallLimit: .milliseconds(300))
            let api = SpotifyWebAPI(tokens: CountingTokens(), client: client, host: host, policy: policy)
            await #expect(throws: MusicError.unavailable("no answer in time")) { try await api.account() }
            await #expect(throws: MusicError.unavailable("no answer in time")) { try await api.playback() }
            #expect(server.requests == 2)
        }
    }

    @Test("A wait beyond the limit of its operation does not begin, and the error is the rate limit's")
    func waitBeyondLimit() async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "5"])
        let expected = MusicError.rateLimited(retryAfter: .seconds(5))
        try await ScriptedSpotify.with(busy) { server, client, host in
            func api(policy: RateLimitPolicy, limits: OperationLimits = OperationLimits()) -> SpotifyWebAPI {
                SpotifyWebAPI(tokens: CountingTokens(), client: client, host: host, policy: policy, limits: limits)
            }
            let hasty = api(policy: RateLimitPolicy(overallLimit: .seconds(4)))
            await #expect(throws: expected) { try await hasty.account() }
            let change = api(policy: RateLimitPolicy(), limits: OperationLimits(change: .seconds(4)))
            await #expect(throws: expected) { try await change.change(.volume(40)) }
            let list = api(policy: RateLimitPolicy(), limits: OperationLimits(list: .seconds(4)))
            await #expect(throws: expected) { try await list.songs(of: "p") }
            #expect(server.received.count == 3)
        }
    }

    @Test("Short waits count towards a list's limit, too")
    func shortWaits() async throws {
        let playlist = ServedPlaylist(songs: numbers(120))
        playlist.refuse(after: 0, retryAfter: 4, count: .max)
        try await playlist.serve { client, host in
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(4))) {
                try await api(client, host, limits: OperationLimits(waits: .seconds(10))).songs(of: "p")
            }
        }
        #expect(playlist.requests == 3)
    }

    @Test("A list whose version changes each time, or cannot be read, is read until two passes are equal")
    func strangeVersions() async throws {
        let version = Mutex(0)
        for isReadable in [true, false] {
            let playlist = ServedPlaylist(songs: numbers(120))
            playlist.answerVersion {
                guard isReadable else { return ScriptedSpotify.Answer(status: 500) }
                let number = version.withLock { version in
                    version += 1
                    return version
                }
                return ScriptedSpotify.Answer(body: #"{"snapshot_id":"v\#(number)"}"#)
            }
            try await playlist.serve { client, host in
                let songs = try await api(client, host).songs(of: "p")
                #expect(songs.map(\.id) == numbers(120))
            }
            #expect(playlist.pages == (isReadable ? [0] : []) + [0, 50, 100, 0, 50, 100])
        }
    }

    @Test("No request is sent while Spotify asks to wait, and every operation is answered locally")
    func answeredHere() async throws {
        let ban = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "79200"])
        try await ScriptedSpotify.with(ban, .init(body: #"{"id":"anna"}"#)) { server, client, host in
            let clock = MovableClock()
            let limit = SharedRateLimit()
            func api(_ session: String) -> SpotifyWebAPI {
                SpotifyWebAPI(
                    tokens: CountingTokens(), client: client, host: host, policy: RateLimitPolicy(now: { clock.now }),
                    session: session, rateLimit: limit)
            }
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(79_200))) {
                try await api("a").change(.pause)
            }
            clock.advance(by: .seconds(7200))
            let expected = MusicError.rateLimited(retryAfter: .seconds(72_000))
            let operations: [@Sendable (SpotifyWebAPI) async throws -> Void] = [
                { _ = try await $0.account() }, { _ = try await $0.playlists() }, { _ = try await $0.songs(of: "p") },
                { _ = try await $0.speakers() }, { _ = try await $0.playback() }, { try await $0.change(.resume) },
                { try await $0.transfer(to: "k") }, { try await $0.play([], on: nil) },
            ]
            for operation in operations {
                for session in ["a", "b"] {
                    await #expect(throws: expected) { try await operation(api(session)) }
                }
            }
            #expect(server.received.count == 1)
            clock.advance(by: .seconds(72_000))
            let account = try await api("b").account()
            #expect(account == "anna")
        }
    }
}

/// A playlist and a list of playlists on a real HTTP server, which can change and can refuse requests between two
/// pages. Both lists have the same ids. The song `local` is a local file.
private final class ServedPlaylist: Sendable {
    private struct State {
        var songs: [String]
        var version = 1
        var account = "anna"
        var requests = 0
        var pages: [Int] = []
        var lines: [String] = []
        var change: (songs: [String], after: Int)?
        var refusal: (after: Int, retryAfter: Int, count: Int)?
        var versionAnswer: (@Sendable () -> ScriptedSpotify.Answer)?
    }

    private let state: Mutex<State>
    private let delay: Duration

    init(songs: [String], delay: Duration = .zero) {
        state = Mutex(State(songs: songs))
        self.delay = delay
    }

    var requests: Int { state.withLock(\.requests) }
    /// The offsets of the pages that were answered.
    var pages: [Int] { state.withLock(\.pages) }

    /// The request lines so far.
    var lines: [String] { state.withLock(\.lines) }

    func change(account: String) { state.withLock { $0.account = account } }

    /// Changes the songs after a number of requests.
    func change(songs: [String], after count: Int) { state.withLock { $0.change = (songs, count) } }

    /// Replaces the answers to requests for the version.
    func answerVersion(_ answer: @escaping @Sendable () -> ScriptedSpotify.Answer) {
        state.withLock { $0.versionAnswer = answer }
    }

    /// Refuses `count` requests after a number of further requests.
    func refuse(after requests: Int, retryAfter: Int, count: Int = 1) {
        state.withLock { $0.refusal = ($0.requests + requests, retryAfter, count) }
    }

    func serve(_ body: (HTTPClient, BaseURL) async throws -> Void) async throws {
        try await ScriptedSpotify.with { server, client, host in
            server.answer { [self] in try await answer(to: $0, on: host) }
            try await body(client, host)
        }
    }

    private func answer(to request: ScriptedSpotify.Request, on host: BaseURL) async throws -> ScriptedSpotify.Answer {
        if delay > .zero { try await Task.sleep(for: delay) }
        return state.withLock { state in
            state.lines.append(request.line)
            if let change = state.change, state.requests >= change.after {
                (state.songs, state.change) = (change.songs, nil)
                state.version += 1
            }
            if let refusal = state.refusal, state.requests >= refusal.after, refusal.count > 0 {
                state.refusal?.count -= 1
                state.requests += 1
                return ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "\(refusal.retryAfter)"])
            }
            state.requests += 1
            if request.line.hasSuffix("/v1/me") { return ScriptedSpotify.Answer(body: #"{"id":"\#(state.account)"}"#) }
            if request.line.contains("fields=snapshot_id") {
                if let answer = state.versionAnswer { return answer() }
                return ScriptedSpotify.Answer(body: #"{"snapshot_id":"v\#(state.version)"}"#)
            }
            let offset = request.line.firstMatch(of: #/offset=(\d+)/#).flatMap { Int($0.1) } ?? 0
            state.pages.append(offset)
            let list = request.line.contains("/v1/me/playlists") ? "me/playlists" : "playlists/p/items"
            let entries = state.songs.dropFirst(offset).prefix(50).map { id in
                if list == "me/playlists" { return #"{"id":"\#(id)"}"# }
                return #"{"is_local":\#(id == "local"),"item":{"id":"\#(id)","uri":"spotify:track:\#(id)"}}"#
            }
            let next =
                offset + 50 < state.songs.count
                ? #""\#(host)/v1/\#(list)?offset=\#(offset + 50)&limit=50""# : "null"
            return ScriptedSpotify.Answer(
                body: #"{"next":\#(next),"total":\#(state.songs.count),"items":[\#(entries.joined(separator: ","))]}"#)
        }
    }
}
