import Authorization
import Contracts
import EventBus
import Foundation
import SpotifyTestSupport
import TestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("Refused tokens", .timeLimit(.minutes(2)))
struct RenewalStoryTests {
    @Test("A refused token is refreshed once, however many calls it affects, and all of them continue")
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

    @Test("A refused refresh logs out with a reason, which is published once")
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

    @Test("A failed refresh is one error, and music-service receives it at once")
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

    @Test("A refresh that is requested while auth-service is away is done when it is back")
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

    @Test("Requests that wait for auth-service beyond a command's lifetime cause one renewal and no error")
    func oldRequests() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService { try await stage.connect() }
            try await stage.spotify.control("revoke", "tokens=access")
            let cause = try await stage.device.tap(Command.PlaylistSelected(playlistID: "DeepFocus"))
            try await stage.withMusicService {
                let _: Command.SpotifyTokenRefreshRequested = try await stage.device.outcome(of: cause)
            }
            let requests = try await stage.device.journalled(Command.SpotifyTokenRefreshRequested.self)
            let request = try #require(requests.first)
            for number in 1...3 {
                var attributes = request.attributes
                attributes.id = "\(request.id)-\(number)"
                attributes.time.addTimeInterval(-300)
                attributes.expiryTime?.addTimeInterval(-300)
                try await stage.device.publish(Batch([Envelope(attributes: attributes, data: request.data)]))
            }
            try await stage.withAuthService {
                _ = try await stage.vault.waitForGeneration(
                    after: 1, failures: 0, of: Session.default, timeout: .seconds(60))
                let launch = try await stage.device.publish(DomainEvent.LaunchFinished())
                #expect(try await stage.device.status(after: launch) == .authorized)
            }
            #expect(try await stage.spotify.refreshes() == 1)
            #expect(try await stage.device.errors().isEmpty)
            let discarded = try await stage.device.journalled(DomainEvent.MessageDiscarded.self)
            #expect(discarded.isEmpty)
        }
    }

    @Test("A renewed token that cannot be stored is one error, and music-service receives it at once")
    func unwritable() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService { try await stage.connect() }
            try await stage.withMusicService {
                _ = try await stage.choose("DeepFocus")
                try await stage.spotify.control("revoke", "tokens=access")
                try await stage.withAuthService(store: UnwritableStore.init) {
                    let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                    let error: ApplicationError = try await stage.device.outcome(of: play)
                    #expect(error.code == "vault.unusable")
                    // The next command is handled when the first one has ended. It needs no token.
                    _ = try await stage.choose("DeepFocus")
                    #expect(try await stage.device.errors().map(\.code) == ["vault.unusable"])
                }
            }
        }
    }
}

/// The vault on a disk that is full.
private struct UnwritableStore: TokenStore {
    let vault: TokenVault

    private func refuse() throws -> StoredTokens {
        throw TokenStoreError(code: "vault.unusable", message: "the disk is full", recovery: "Make room on it.")
    }

    func load(of session: String) async throws -> StoredTokens { try await vault.load(of: session) }
    func save(_ tokens: SpotifyTokens, of session: String) async throws -> StoredTokens { try refuse() }
    func clear(_ session: String) async throws -> StoredTokens { try refuse() }
    func recordFailedRenewal(of session: String, at date: Date) async throws -> StoredTokens { try refuse() }
    func checkRoom(for session: String) async throws {}
}

extension EventBus {
    fileprivate func errors() async throws -> [ApplicationError] {
        try await everything().filter { $0.type == ApplicationError.type }.map { try $0.decode(ApplicationError.self) }
    }
}
