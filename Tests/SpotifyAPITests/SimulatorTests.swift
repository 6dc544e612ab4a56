import Authorization
import Music
import SpotifyAPI
import SpotifyTestSupport
import Testing
import Vocabulary

@Suite("Spotify simulator as the server")
struct SimulatorTests {
    /// Runs a test with an account that has given consent.
    func connected(
        _ body: (SimulatedSpotify, SpotifyWebAPI, ConnectedAccount) async throws -> Void
    ) async throws {
        try await SimulatedSpotify.with { spotify in
            let account = try await ConnectedAccount(spotify)
            let api = SpotifyWebAPI(
                tokens: account, client: spotify.client, host: .local(spotify.base), policy: .impatient)
            try await body(spotify, api, account)
        }
    }

    @Test("All pages of playlists and of songs are read to their end")
    func pages() async throws {
        try await connected { _, api, _ in
            #expect(try await api.account() == "segue")
            let playlists = try await api.playlists()
            let endless = try #require(playlists.first { $0.id == "EndlessFocus" })
            #expect(playlists.first?.name == "Deep Focus")
            #expect(endless.songCount > SpotifyWebAPI.maximumSongsPerCall)

            let songs = try await api.songs(of: endless.id)
            #expect(songs.count == endless.songCount)
            #expect(Set(songs.map(\.id)).count == songs.count)
            #expect(songs.first?.artist == "The Long Now Quartet")
        }
    }

    @Test("Withdrawn songs are left out, on the first page and on the pages after it")
    func withdrawn() async throws {
        try await connected { _, api, _ in
            let playlist = try #require(try await api.playlists().first { $0.id == "LongWalk" })
            #expect(playlist.songCount == 60)
            let titles = try await api.songs(of: playlist.id).map(\.title)
            #expect(titles == (1...60).filter { ![7, 55].contains($0) }.map { "Sti \($0)" })
        }
    }

    @Test(
        "Songs are requested without a market if Spotify refuses the account's market", arguments: ["invalid", "scope"])
    func market(rule: String) async throws {
        try await connected { spotify, api, _ in
            let songs = try await api.songs(of: "LongWalk")
            try await spotify.control("market", "from_token=\(rule)")
            #expect(try await api.songs(of: "LongWalk") == songs, "withdrawn songs are left out, too")
            try await spotify.control("market", "from_token=accepted")
            #expect(try await api.songs(of: "LongWalk") == songs)
        }
    }

    @Test("An unknown playlist is not found")
    func unknown() async throws {
        try await connected { _, api, _ in
            await #expect(throws: MusicError.notFound(.playlist("nope"))) { try await api.songs(of: "nope") }
        }
    }

    @Test("Playing and the choice of a device work, and missing devices or Premium are reported")
    func playing() async throws {
        try await connected { spotify, api, _ in
            let songs = try await api.songs(of: "EndlessFocus")
            try await api.play(songs, on: nil)

            try await spotify.control("devices", "action=deactivate")
            await #expect(throws: MusicError.noActiveDevice) { try await api.play(songs, on: nil) }
            let device = try #require(try await api.speakers().last)
            #expect(!device.isActive)
            try await api.transfer(to: device.id)
            try await api.play(songs, on: device.id)
            #expect(try await api.speakers().filter(\.isActive).map(\.id) == [device.id])

            await #expect(throws: MusicError.notFound(.device)) { try await api.transfer(to: "attic") }
            try await spotify.control("premium", "premium=off")
            await #expect(throws: MusicError.premiumRequired) { try await api.play(songs, on: nil) }
        }
    }

    @Test("The playback is read with each change, by this app or another client")
    func nowPlaying() async throws {
        try await connected { spotify, api, _ in
            #expect(try await api.playback()?.isPlaying != true)
            let songs = try await api.songs(of: "EndlessFocus")
            try await api.play(songs, on: nil)
            let first = try #require(try await api.playback())
            #expect(first.isPlaying)
            #expect(first.track?.title == songs[0].title && first.track?.artist == songs[0].artist)
            #expect(first.track?.duration == songs[0].duration)
            #expect(first.track?.album?.isEmpty == false)
            #expect(first.device?.name.isEmpty == false)

            try await api.change(.next)
            #expect(try await api.playback()?.track?.title == songs[1].title)
            try await api.change(.previous)
            try await api.change(.pause)
            try await api.change(.seek(61_000))
            try await api.change(.volume(35))
            let paused = try #require(try await api.playback())
            #expect(paused.track?.title == songs[0].title && !paused.isPlaying)
            #expect(paused.position == 61_000 && paused.device?.volume == 35)
            try await api.change(.resume)
            #expect(try await api.playback()?.isPlaying == true)
            try await spotify.control("player", "action=pause")
            #expect(try await api.playback()?.isPlaying == false)
        }
    }

    @Test("Nothing plays and nothing can be changed without an active device")
    func noPlayback() async throws {
        try await connected { spotify, api, _ in
            try await spotify.control("devices", "action=deactivate")
            #expect(try await api.playback() == nil)
            await #expect(throws: MusicError.noActiveDevice) { try await api.change(.pause) }
            try await spotify.control("premium", "premium=off")
            await #expect(throws: MusicError.premiumRequired) { try await api.change(.next) }
        }
    }

    @Test("A change that the playback does not allow is refused with Spotify's reason")
    func restriction() async throws {
        try await connected { _, api, _ in
            try await api.play(try await api.songs(of: "EndlessFocus"), on: nil)
            let refused = await #expect(throws: MusicError.self) { try await api.change(.resume) }
            guard case .forbidden = refused else {
                Issue.record("unexpected \(String(describing: refused))")
                return
            }
            let tooLoud = await #expect(throws: MusicError.self) { try await api.change(.volume(101)) }
            guard case .forbidden = tooLoud else {
                Issue.record("unexpected \(String(describing: tooLoud))")
                return
            }
        }
    }

    @Test("A revoked access token is renewed in the middle, each time")
    func renewal() async throws {
        try await connected { spotify, api, account in
            for renewals in 1...3 {
                try await spotify.control("revoke", "tokens=access")
                #expect(try await !api.playlists().isEmpty)
                #expect(await account.renewals == renewals)
            }
        }
    }

    @Test("A revoked refresh token is refused permanently")
    func revoked() async throws {
        try await connected { spotify, api, _ in
            try await spotify.control("revoke", "tokens=all")
            let failure = await #expect(throws: AuthorizationFailure.self) { try await api.account() }
            guard case .grantRefused = failure else {
                Issue.record("unexpected \(String(describing: failure))")
                return
            }
        }
    }

    @Test("A short rate limit is waited for, and a server error fails only one call")
    func faults() async throws {
        try await connected { spotify, api, _ in
            try await spotify.control("faults", "path=/v1/*&status=429&retry_after=1&count=2")
            #expect(try await api.account() == "segue")
            try await spotify.control("faults", "path=/v1/*&status=503&count=1")
            await #expect(throws: MusicError.unavailable("the server answered with status 503")) {
                try await api.account()
            }
            #expect(try await api.account() == "segue")
        }
    }

    @Test("A damaged answer is an error, and a slow one is awaited up to its limit")
    func damagedAnswers() async throws {
        try await connected { spotify, api, account in
            for body in ["truncated", "not-json"] {
                try await spotify.control("faults", "path=/v1/me&body=\(body)&count=1")
                let error = await #expect(throws: MusicError.self) { try await api.account() }
                guard case .unavailable = error else {
                    Issue.record("\(body): unexpected \(String(describing: error))")
                    continue
                }
            }
            try await spotify.control("faults", "path=/v1/me&body=slow&body_ms=100&count=1")
            #expect(try await api.account() == "segue")

            try await spotify.control("faults", "path=/v1/me&body=slow&count=1")
            let hasty = SpotifyWebAPI(
                tokens: account, client: spotify.client, host: .local(spotify.base),
                policy: RateLimitPolicy(overallLimit: .milliseconds(300)))
            await #expect(throws: MusicError.unavailable("no answer in time")) { try await hasty.account() }
        }
    }

    @Test("A denial and a wrong verifier give no token")
    func refused() async throws {
        try await SimulatedSpotify.with { spotify in
            let request = AuthorizationRequest(
                state: "a b&c", codeChallenge: CodeVerifier().challenge, redirectURI: SimulatedSpotify.redirectURI)
            let url = spotify.accounts.authorizationURL(for: request)

            let denial = try await spotify.decide("deny", at: url)
            #expect(denial == AuthorizationCallback(answer: .denied(error: "access_denied"), state: "a b&c"))

            guard case .approved(let code) = try await spotify.decide("approve", at: url).answer else {
                Issue.record("the simulator denied what was approved")
                return
            }
            await #expect(throws: AuthorizationFailure.grantRefused("code_verifier was incorrect")) {
                try await spotify.accounts.exchange(
                    code: code, verifier: CodeVerifier(), redirectURI: SimulatedSpotify.redirectURI)
            }
        }
    }
}

/// An account of the simulator that has given consent. Its tokens are renewed when they are refused.
actor ConnectedAccount: AccessTokens {
    private let server: SpotifyAccounts
    private var refreshToken: String
    private var token: AccessToken
    private(set) var renewals = 0

    init(_ spotify: SimulatedSpotify) async throws {
        server = spotify.accounts
        let verifier = CodeVerifier()
        let url = server.authorizationURL(
            for: AuthorizationRequest(
                state: "s", codeChallenge: verifier.challenge, redirectURI: SimulatedSpotify.redirectURI))
        guard case .approved(let code) = try await spotify.decide("approve", at: url).answer else {
            throw AuthorizationFailure.unavailable("the simulator denied what was approved")
        }
        let grant = try await server.exchange(
            code: code, verifier: verifier, redirectURI: SimulatedSpotify.redirectURI)
        refreshToken = grant.refreshToken ?? ""
        token = AccessToken(value: grant.accessToken, generation: 1)
    }

    func current() -> AccessToken { token }

    func newer(thanRefused generation: Int) async throws -> AccessToken {
        if token.generation <= generation {
            let grant = try await server.refresh(refreshToken)
            refreshToken = grant.refreshToken ?? refreshToken
            token = AccessToken(value: grant.accessToken, generation: generation + 1)
            renewals += 1
        }
        return token
    }
}
