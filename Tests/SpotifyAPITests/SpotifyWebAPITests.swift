import Foundation
import HTTPClient
import Music
import SpotifyAPI
import SpotifyTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite("Errors and odd answers of Spotify's Web API")
struct SpotifyWebAPITests {
    func api(
        _ client: HTTPClient, _ host: BaseURL, tokens: any AccessTokens = CountingTokens(),
        policy: RateLimitPolicy = .impatient
    ) -> SpotifyWebAPI {
        SpotifyWebAPI(tokens: tokens, client: client, host: host, policy: policy)
    }

    func error(_ status: Int, _ message: String = "No", reason: String? = nil) -> ScriptedSpotify.Answer {
        let reason = reason.map { #","reason":"\#($0)""# } ?? ""
        return .init(status: status, body: #"{"error":{"status":\#(status),"message":"\#(message)"\#(reason)}}"#)
    }

    @Test("A refused token is replaced and the request is sent again once")
    func renewal() async throws {
        try await ScriptedSpotify.with(error(401), .init(body: #"{"id":"anna"}"#)) { server, client, host in
            let account = try await api(client, host).account()
            #expect(account == "anna")
            #expect(
                server.received.map(\.authorization) == ["Bearer token-secret-1", "Bearer token-secret-2"])
        }
    }

    @Test("A new token that is refused too ends the request, without a loop")
    func refusedTwice() async throws {
        try await ScriptedSpotify.with(error(401)) { server, client, host in
            await #expect(throws: MusicError.unauthorized(generation: 2)) { try await api(client, host).account() }
            #expect(server.received.count == 2)
        }
    }

    @Test("The request is not sent again if there is no newer token")
    func noNewerToken() async throws {
        try await ScriptedSpotify.with(error(401)) { server, client, host in
            await #expect(throws: MusicError.authorizationEnded) {
                try await api(client, host, tokens: CountingTokens(isRenewable: false)).speakers()
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("A player that asks to wait is not asked again if the caller does not wait")
    func playerWait() async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "7"], body: "{}")
        try await ScriptedSpotify.with(busy) { server, client, host in
            let api = api(client, host, policy: RateLimitPolicy(attempts: 1))
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(7))) { try await api.playback() }
            #expect(server.received.count == 1)
        }
    }

    @Test(
        "A playback with strange fields is read as far as possible",
        arguments: [
            (#"{"is_playing":false,"item":null,"device":{"name":"TV"}}"#, nil),
            (
                #"{"is_playing":true,"item":null,"progress_ms":"4","device":{"name":"TV","volume_percent":400}}"#,
                Playback(
                    track: nil, isPlaying: true, position: 4, measuredAt: 1000,
                    device: Playback.Speaker(name: "TV", type: "Unknown", volume: 100))
            ),
            (
                #"{"is_playing":true,"progress_ms":-1,"item":{"type":"episode","name":"Talk"},"device":7}"#,
                Playback(track: nil, isPlaying: true, position: 0, measuredAt: 1000)
            ),
            (
                #"{"item":{"name":"A\nB","artists":[{"name":"X"},null,{"name":"Y"}],"album":3,"duration_ms":9},"#
                    + #""device":{"name":"TV","type":"TV","volume_percent":4,"supports_volume":false}}"#,
                Playback(
                    track: Playback.Track(title: "A B", artist: "X, Y", duration: 9), isPlaying: false, position: 0,
                    measuredAt: 1000, device: Playback.Speaker(name: "TV", type: "TV"))
            ),
        ])
    func strangePlayback(body: String, expected: Playback?) async throws {
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let api = SpotifyWebAPI(
                tokens: CountingTokens(), client: client, host: host, now: { Date(timeIntervalSince1970: 1) })
            let playback = try await api.playback()
            #expect(playback == expected)
        }
    }

    @Test(
        "Only the existence of the link to the next page is used, not its path or host",
        arguments: ["https://evil.example/v1?offset=50", "/v1/playlists/p/tracks?offset=50&limit=50", "%%%", ""])
    func nextPage(link: String) async throws {
        try await ScriptedSpotify.with { server, client, host in
            server.answer { request in
                let isLast = request.line.contains("offset=50")
                let next = isLast ? "null" : #""\#(link)""#
                return .init(body: #"{"items":[{"id":"\#(isLast ? "b" : "a")"}],"next":\#(next)}"#)
            }
            let playlists = try await api(client, host).playlists()
            #expect(playlists.map(\.id) == ["a", "b"])
            let pages = ["GET /v1/me/playlists?limit=50&offset=0", "GET /v1/me/playlists?limit=50&offset=50"]
            #expect(server.received.map(\.line) == pages + pages)
        }
    }

    @Test("A list that never ends is too long")
    func endless() async throws {
        try await ScriptedSpotify.with(.init(body: #"{"items":[{"id":"a"}],"next":"n"}"#)) { server, client, host in
            await #expect(throws: MusicError.tooLong(.playlists, limit: 10_000)) {
                try await api(client, host).playlists()
            }
            #expect(server.received.count == 200)
        }
    }

    @Test("A redirect is not followed, wherever it leads")
    func redirect() async throws {
        try await ScriptedSpotify.with(.init(status: 307, headers: ["Location": "/v1/elsewhere"])) {
            server, client, host in
            await #expect(throws: MusicError.unavailable("the server answered with status 307")) {
                try await api(client, host).account()
            }
            #expect(server.received.count == 1)
        }
    }

    @Test("Null and odd items, local files and episodes are left out, without a loss of others")
    func oddItems() async throws {
        let body = #"""
            {"next":null,"items":[
                null, {"item":null}, {"is_local":true,"item":{"id":null,"uri":"spotify:local:a","type":"track"}},
                {"item":{"id":"e","uri":"spotify:episode:e","type":"episode","name":"Talk"}}, "odd",
                {"item":{"id":"s","uri":"spotify:track:s","type":"track","name":"Rain","duration_ms":1500,
                         "artists":[{"name":"A"},{"name":null},{"name":"B"}]}}]}
            """#
        try await ScriptedSpotify.with(.init(body: body)) { server, client, host in
            let songs = try await api(client, host).songs(of: "p")
            #expect(
                songs == [Song(id: "s", uri: "spotify:track:s", title: "Rain", artist: "A, B", duration: 1500)])
            #expect(server.received.map(\.line) == ["GET /v1/playlists/p/items?limit=50&offset=0&market=from_token"])
        }
    }

    @Test(
        "A refusal that names the market or a scope is answered by one request without the market",
        arguments: [(400, "Invalid market code"), (403, "Insufficient client scope"), (403, "Forbidden")])
    func market(status: Int, message: String) async throws {
        try await ScriptedSpotify.with(error(status, message)) { server, client, host in
            await #expect(throws: MusicError.self) { try await api(client, host).songs(of: "p") }
            let first = "GET /v1/playlists/p/items?limit=50&offset=0"
            let isRepeated = message != "Forbidden"
            #expect(server.received.map(\.line) == ["\(first)&market=from_token"] + (isRepeated ? [first] : []))
        }
    }

    @Test("Playlists with nulls and older names are still playlists")
    func oddPlaylists() async throws {
        let body = #"""
            {"next":null,"items":[null,{"id":"a","name":"Calm","owner":{"id":"anna","display_name":null},
            "tracks":{"total":3}},{"id":"b","name":null,"owner":null},{"name":"no id"}]}
            """#
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let playlists = try await api(client, host).playlists()
            #expect(
                playlists == [
                    Playlist(id: "a", name: "Calm", owner: "anna", songCount: 3),
                    Playlist(id: "b", name: "", owner: "", songCount: 0),
                ])
        }
    }

    @Test("An id is one segment of a path, whatever it contains", arguments: ["..", ".", ""])
    func dotSegments(id: String) async throws {
        try await ScriptedSpotify.with { server, client, host in
            await #expect(throws: MusicError.self) { try await api(client, host).songs(of: id) }
            #expect(server.received.isEmpty)
        }
    }

    @Test("An id that contains a path requests no other resource")
    func escapedID() async throws {
        try await ScriptedSpotify.with(error(404)) { server, client, host in
            await #expect(throws: MusicError.notFound(.playlist("a/../me?x"))) {
                try await api(client, host).songs(of: "a/../me?x")
            }
            #expect(
                server.received.map(\.line) == [
                    "GET /v1/playlists/a%2F..%2Fme%3Fx/items?limit=50&offset=0&market=from_token"
                ])
        }
    }

    @Test("A short Retry-After is awaited, as often as the policy allows")
    func rateLimit() async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "2"])
        try await ScriptedSpotify.with(busy, busy, .init(body: #"{"id":"anna"}"#)) { server, client, host in
            let account = try await api(client, host).account()
            #expect(account == "anna")
            #expect(server.received.count == 3)
        }
        try await ScriptedSpotify.with(busy) { server, client, host in
            await #expect(throws: MusicError.rateLimited(retryAfter: .seconds(2))) {
                try await api(client, host).account()
            }
            #expect(server.received.count == 3)
        }
    }

    @Test("A long or unreadable Retry-After is reported at once", arguments: ["6", "-1", "soon", ""])
    func longRateLimit(header: String) async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": header])
        let expected = MusicError.rateLimited(retryAfter: header == "6" ? .seconds(6) : nil)
        try await ScriptedSpotify.with(busy) { server, client, host in
            await #expect(throws: expected) { try await api(client, host).account() }
            #expect(server.received.count == 1)
        }
    }

    @Test("The wait has the length that Spotify asks for")
    func waits() async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": "3"])
        try await ScriptedSpotify.with(busy, .init(body: #"{"id":"anna"}"#)) { _, client, host in
            try await confirmation { waited in
                let policy = RateLimitPolicy.impatient { duration in
                    #expect(duration == .seconds(3))
                    waited()
                }
                _ = try await api(client, host, policy: policy).account()
            }
        }
    }

    @Test("A change whose connection closes without an answer is not repeated, because it may have had its effect")
    func closedConnection() async throws {
        try await FaultySpotify.with(.closesAfterFirst) { server, client, host in
            // The answer is not one for this request, but the connection is kept.
            await #expect(throws: MusicError.self) { try await api(client, host).speakers() }
            await #expect(throws: MusicError.self) { try await api(client, host).change(.pause) }
            #expect(server.requests == 2)
        }
    }

    @Test("The songs are cut to the first hundred tracks, which Spotify accepts")
    func manySongs() async throws {
        let songs = (0..<150).map { number in
            let kind = number < 20 ? "episode" : "track"
            return Song(id: "\(number)", uri: "spotify:\(kind):u\(number)", title: "", artist: "", duration: 1)
        }
        try await ScriptedSpotify.with(.init(status: 204, body: "")) { server, client, host in
            try await api(client, host).play(songs, on: "a&b")
            let request = try #require(server.received.first)
            #expect(request.line == "PUT /v1/me/player/play?device_id=a%26b")
            #expect(!request.body.contains("episode") && request.body.contains(#"u20""#))
            #expect(request.body.contains(#"u119""#) && !request.body.contains(#"u120""#))
        }
    }

    @Test("Devices without an id, or that accept no commands, are not offered")
    func speakers() async throws {
        let body = #"""
            {"devices":[null,{"id":null,"name":"Ghost"},{"id":"tv","name":"TV","is_restricted":true},
            {"id":"k","name":"Kitchen","type":"Speaker","is_active":true}]}
            """#
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let devices = try await api(client, host).speakers()
            #expect(devices == [Speaker(id: "k", name: "Kitchen", type: "Speaker", isActive: true)])
        }
    }

    @Test(
        "The reason of a refusal is found in each form of body",
        arguments: [
            (#"{"error":{"status":403,"message":"Not allowed"}}"#, "Not allowed"),
            (#"{"error":"Not allowed"}"#, "Not allowed"),
            (#"{"error":"denied","error_description":"Not allowed"}"#, "Not allowed"),
            (#"{"error":{"error_description":"Not allowed"}}"#, "Not allowed"),
            (#"{"status":403,"message":"Not allowed"}"#, "Not allowed"),
            (#"{"error":{"status":403,"message":"","reason":"NOT_ALLOWED"}}"#, "NOT_ALLOWED"),
            (#"{"error":{"message":null,"reason":"NOT_ALLOWED"}}"#, "NOT_ALLOWED"),
            (#"{"error":true,"message":"Not allowed"}"#, "Not allowed"),
            (#""Not allowed""#, "Not allowed"), ("Not allowed", "Not allowed"),
            (#"{"error":{"message":"#, "no reason was given"), ("", "no reason was given"),
            ("<p>Not allowed", "no reason was given"), ("[]", "no reason was given"), ("{}", "no reason was given"),
        ])
    func reasons(body: String, reason: String) async throws {
        for headers in [["Content-Type": "application/json; charset=utf-8"], [:], ["Content-Type": "text/plain"]] {
            try await ScriptedSpotify.with(.init(status: 403, headers: headers, body: body)) { _, client, host in
                await #expect(throws: MusicError.forbidden(reason)) { try await api(client, host).transfer(to: "k") }
            }
        }
    }

    @Test("A missing Premium is recognised in each form of body", arguments: ["{\"error\":R}", "R"])
    func premium(form: String) async throws {
        let body = form.replacing("R", with: #"{"reason":"PREMIUM_REQUIRED"}"#)
        try await ScriptedSpotify.with(.init(status: 403, body: body)) { _, client, host in
            await #expect(throws: MusicError.premiumRequired) { try await api(client, host).change(.pause) }
        }
    }

    @Test("A forbidden playlist has its own error, unless a scope is missing")
    func forbiddenPlaylist() async throws {
        try await ScriptedSpotify.with(error(403, "Forbidden")) { _, client, host in
            await #expect(throws: MusicError.playlistForbidden("Forbidden")) {
                try await api(client, host).songs(of: "p")
            }
            await #expect(throws: MusicError.forbidden("Forbidden")) { try await api(client, host).playlists() }
        }
        try await ScriptedSpotify.with(error(403, "Insufficient client scope")) { _, client, host in
            await #expect(throws: MusicError.forbidden("Insufficient client scope")) {
                try await api(client, host).songs(of: "p")
            }
        }
    }

    @Test("Errors are distinguished by status and reason, not by their text")
    func errors() async throws {
        let html = ["Content-Type": "text/html"]
        let plain = ["Content-Type": "text/plain; charset=utf-8"]
        let cases: [(ScriptedSpotify.Answer, MusicError)] = [
            (error(403, "Player command failed", reason: "PREMIUM_REQUIRED"), .premiumRequired),
            (error(403, "Insufficient client scope"), .forbidden("Insufficient client scope")),
            (error(404, "Player command failed", reason: "NO_ACTIVE_DEVICE"), .noActiveDevice),
            (error(404, "Device not found"), .notFound(.device)),
            (error(400, "Malformed json"), .forbidden("Malformed json")),
            (.init(status: 403, body: "<html>"), .forbidden("no reason was given")),
            (.init(status: 403, headers: html, body: "<b>no"), .forbidden("no reason was given")),
            (.init(status: 403, headers: plain, body: "User not\nregistered"), .forbidden("User not registered")),
            (.init(status: 400, headers: plain, body: " "), .forbidden("status 400")),
            (.init(status: 403, body: #"{"error":{"message":7,"reason":"PREMIUM_REQUIRED"}}"#), .premiumRequired),
            (error(403, "\u{202E}evil\u{2066} \u{200F}\u{61C} name"), .forbidden("evil name")),
            (
                error(403, "cannot open /var/lib/x ('/etc/passwd') file:///a C:\\\\a and/or"),
                .forbidden("cannot open … … … … and/or")
            ),
            (
                error(403, "path=/etc/passwd open(/etc/x) error:/var/x in:~/x a,/b [C:\\\\x] FILE://h/x x:///y"),
                .forbidden("… … … … … … … …")
            ),
            (
                error(403, "a:/b ('\u{301}/etc/x /\u{301}etc \u{301}/etc “/etc/x” |/x :\u{301}/etc é/a e\u{301}/a"),
                .forbidden("… … … … … … … é/a e\u{301}/a")
            ),
            (
                error(403, "see https://example.com/docs, v1/me and (http://host/a) at 1:2"),
                .forbidden("see https://example.com/docs, v1/me and (http://host/a) at 1:2")
            ),
            (error(500), .unavailable("the server answered with status 500")),
        ]
        for (answer, expected) in cases {
            try await ScriptedSpotify.with(answer) { _, client, host in
                await #expect(throws: expected) { try await api(client, host).transfer(to: "k") }
            }
        }
    }
}

/// Access tokens. Each refusal makes the next token current.
final class CountingTokens: AccessTokens {
    private let generation = Mutex(1)
    private let isRenewable: Bool

    init(isRenewable: Bool = true) {
        self.isRenewable = isRenewable
    }

    func current() async throws -> AccessToken {
        token(generation.withLock(\.self))
    }

    func newer(thanRefused generation: Int) async throws -> AccessToken {
        guard isRenewable else { throw MusicError.authorizationEnded }
        return token(
            self.generation.withLock {
                $0 = max($0, generation + 1)
                return $0
            })
    }

    private func token(_ generation: Int) -> AccessToken {
        AccessToken(value: "token-secret-\(generation)", generation: generation)
    }
}
