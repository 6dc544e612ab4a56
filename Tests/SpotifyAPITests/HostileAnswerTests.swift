import Authorization
import Contracts
import EventBus
import Foundation
import HTTPClient
import HostileValues
import Music
import SpotifyAPI
import SpotifyTestSupport
import Support
import Testing
import Vocabulary

@Suite("Spotify's answers with hostile values", .timeLimit(.minutes(3)))
struct HostileAnswerTests {
    /// A valid answer for each request, and the documents that are made of it.
    private typealias Case = (answer: JSONValue, use: @Sendable (SpotifyWebAPI) async throws -> any Message)

    private static let cases: [Case] = [
        (
            [
                "items": [["id": "p1", "name": "One", "owner": ["id": "anna"], "items": ["total": 3]]], "next": .null,
                "total": 1,
            ], { Document.Playlists(playlists: try await $0.playlists()) }
        ),
        (
            [
                "items": [
                    [
                        "item": [
                            "id": "s1", "uri": "spotify:track:s1", "type": "track", "name": "Song",
                            "artists": [["name": "Ann"]], "duration_ms": 200_000,
                        ]
                    ]
                ], "next": .null, "total": 1, "snapshot_id": "v1",
            ],
            { Document.GeneratedPlaylist(playlistID: "p1", status: .ready, songs: try await $0.songs(of: "p1")) }
        ),
        (
            ["devices": [["id": "d1", "name": "TV", "type": "TV", "is_active": true, "volume_percent": 5]]],
            { Document.Devices(devices: try await $0.speakers()) }
        ),
        (
            [
                "is_playing": true, "progress_ms": 100, "device": ["name": "TV", "type": "TV", "volume_percent": 5],
                "item": ["type": "track", "name": "Song", "artists": [["name": "Ann"]], "duration_ms": 200_000],
            ], { Document.NowPlaying(status: .following, playback: try await $0.playback()) }
        ),
    ]

    @Test("A hostile answer becomes a document that can be read again, or an error", arguments: cases.indices)
    func documents(index: Int) async throws {
        let (answer, use) = Self.cases[index]
        try await ScriptedSpotify.with { server, client, host in
            for text in answer.hostileTexts() {
                server.answer(ScriptedSpotify.Answer(body: text.json))
                let api = SpotifyWebAPI(tokens: CountingTokens(), client: client, host: host, policy: .impatient)
                do {
                    try isReadable(try await use(api))
                } catch is MusicError {
                    continue
                } catch {
                    Issue.record("\(text.path) = \(text.value): \(error)")
                }
            }
        }
    }

    private func isReadable<M: Message>(_ message: M) throws {
        _ = try Envelope(message, source: "test/1").decode(M.self)
    }

    @Test("A hostile answer to a request for tokens gives tokens that can be stored, or an error")
    func tokens() async throws {
        let answer: JSONValue = [
            "access_token": "a", "token_type": "Bearer", "scope": "s", "expires_in": 60, "refresh_token": "r",
        ]
        try await ScriptedSpotify.with { server, client, host in
            for text in answer.hostileTexts() {
                server.answer(ScriptedSpotify.Answer(body: text.json))
                let accounts = SpotifyAccounts(clientID: "c", client: client, host: host, policy: .impatient)
                do {
                    let grant = try await accounts.refresh("r")
                    #expect((.zero ... .seconds(SafeIntegers.greatest)).contains(grant.lifetime), "\(text.value)")
                } catch is AuthorizationFailure {
                    continue
                }
            }
        }
    }

    @Test(
        "A wait that Spotify asks for is limited to a possible duration",
        arguments: ["9223372036854775807", "18446744073709551616", "-1", "1e300", "", "NaN"])
    func waits(text: String) async throws {
        let busy = ScriptedSpotify.Answer(status: 429, headers: ["Retry-After": text])
        try await ScriptedSpotify.with(busy) { _, client, host in
            let api = SpotifyWebAPI(tokens: CountingTokens(), client: client, host: host, policy: .impatient)
            let error = await #expect(throws: MusicError.self) { try await api.playback() }
            guard case .rateLimited(let wait) = error else { throw error ?? MusicError.renewalFailed }
            #expect(wait ?? .zero <= .seconds(SafeIntegers.greatest))
        }
    }
}
