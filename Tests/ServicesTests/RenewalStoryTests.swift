import Authorization
import Contracts
import EventBus
import SpotifyTestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("Tokens that Spotify refuses", .timeLimit(.minutes(2)))
struct RenewalStoryTests {
    @Test("A refused token is refreshed once, however many calls met it, and they all go on")
    func once() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                try await stage.connect()
                _ = try await stage.choose("DeepFocus")
                try await stage.spotify.control("revoke", "tokens=access")

                // Both consumers of music-service get the refusal, and another process requests a renewal, too.
                let launch = try await stage.device.publish(DomainEvent.LaunchFinished())
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                _ = try await stage.device.tap(Command.SpotifyTokenRefreshRequested(generation: 1))
                let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
                let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: launch)

                #expect(try await stage.spotify.refreshes() == 1)
                #expect(try await stage.vault.read().generation == 2)
                #expect(try await stage.device.errors().isEmpty)
            }
        }
    }

    @Test("A refresh that is refused logs out with a reason, told once")
    func refused() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                try await stage.connect()
                _ = try await stage.choose("DeepFocus")
                try await stage.spotify.control("revoke", "tokens=all")
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())

                #expect(try await stage.device.status(after: play) == .deauthorized)
                let playlists: Document.Playlists = try await stage.device.outcome(of: play)
                #expect(playlists.playlists.isEmpty)
                let launch = try await stage.device.publish(DomainEvent.LaunchFinished())
                #expect(try await stage.device.status(after: launch) == .unauthorized)
                #expect(try await stage.device.errors().map(\.code) == ["spotify.access-revoked"])
            }
        }
    }

    @Test("A failed refresh is one error, and music-service learns of it at once")
    func failed() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                try await stage.connect()
                _ = try await stage.choose("DeepFocus")
                stage.failRefreshes(with: .unavailable("status 503"))
                try await stage.spotify.control("revoke", "tokens=access")
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                let error: ApplicationError = try await stage.device.outcome(of: play)
                #expect(error.code == "spotify.unavailable")

                // The next command is handled when the first one has ended.
                stage.failRefreshes(with: nil)
                let again = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: again)
                #expect(try await stage.device.errors().map(\.code) == ["spotify.unavailable"])
            }
        }
    }

    @Test("A refresh that is asked for while auth-service is away is done when it is back")
    func away() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService { try await stage.connect() }
            try await stage.withMusicService {
                _ = try await stage.choose("DeepFocus")
                try await stage.spotify.control("revoke", "tokens=access")
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                let _: Command.SpotifyTokenRefreshRequested = try await stage.device.outcome(of: play)
                try await stage.withAuthService {
                    let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
                }
            }
        }
    }
}

extension EventBus {
    fileprivate func errors() async throws -> [ApplicationError] {
        try await everything().filter { $0.type == ApplicationError.type }.map { try $0.decode(ApplicationError.self) }
    }
}
