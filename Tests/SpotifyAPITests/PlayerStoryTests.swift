import Authorization
import Contracts
import EventBus
import Foundation
import GRDB
import Logging
import Music
import Repositories
import SpotifyAPI
import SpotifyTestSupport
import Synchronization
import TestSupport
import Testing
import TokenVault
import Vocabulary

/// Runs the operations of both services with all tiers of the player and a simulated Spotify, without a bus.
@Suite("Story across all tiers")
struct PlayerStoryTests {
    @Test("The story leads from consent to music, with the authorizing service killed during the consent")
    func story() async throws {
        try await SimulatedSpotify.with { spotify in
            try await withVault { directory in
                try await authorize(spotify, directory)
                // After a restart, the service finds the tokens.
                let authorization = try await service(spotify, directory)
                let launched = try await authorization.launched(Session.default)
                #expect(launched.statuses == [.authorized])

                let music = try music(spotify, directory) {
                    _ = try await authorization.refresh(generation: $0, of: Session.default)
                }
                #expect(try await music.loadPlaylists().types == ["document.Playlists", "event.PlaylistsLoaded"])
                let generated = try await generate("EndlessFocus", music)
                #expect(generated?.status == .ready)
                #expect(try await music.play(generated).types == ["event.PlaybackStarted"])

                try await spotify.control("revoke", "tokens=access")
                #expect(try await music.play(generated).types == ["event.PlaybackStarted"])
                #expect(try await TokenVaultReader(directory: directory).read(Session.default).generation == 2)
            }
        }
    }

    @Test("A revoked access ends in one log-out with a reason, published by the authorizing service only")
    func revoked() async throws {
        try await SimulatedSpotify.with { spotify in
            try await withVault { directory in
                try await authorize(spotify, directory)
                let authorization = try await service(spotify, directory)
                let answers = Answers()
                let music = try music(spotify, directory) {
                    answers.append(try await authorization.refresh(generation: $0, of: Session.default))
                }
                let generated = try await generate("DeepFocus", music)
                try await spotify.control("revoke", "tokens=all")

                #expect(try await music.play(generated).isEmpty)
                #expect(answers.all.statuses == [.deauthorized])
                #expect(answers.all.types.contains("error.ApplicationError"))
                #expect(try await music.play(generated).types == ["error.ApplicationError"])
                #expect(try await authorization.launched(Session.default).statuses == [.unauthorized])
            }
        }
    }

    /// Gives consent. Each step runs in a new service, as after a restart.
    private func authorize(_ spotify: SimulatedSpotify, _ directory: String) async throws {
        let cause = Attributes(type: Command.SpotifyAuthorizationRequested.type, source: "device/1")
        let asked = try await service(spotify, directory).requestAuthorization(
            causedBy: cause, redirectURI: SimulatedSpotify.redirectURI)
        let generated = try #require(asked.first as? DomainEvent.SpotifyAuthURLGenerated)

        let callback = try await spotify.decide("approve", at: generated.url)
        let outcome = try await service(spotify, directory).receive(callback)
        #expect(outcome.messages.statuses == [.authorized])
        #expect(outcome.cause?.id == cause.id)
        try await service(spotify, directory).acknowledge(outcome)
    }

    private func service(_ spotify: SimulatedSpotify, _ directory: String) async throws -> AuthorizationService {
        let vault = try await TokenVault.open(directory: directory)
        return AuthorizationService(server: spotify.accounts, store: vault, attempts: vault)
    }

    private func music(
        _ spotify: SimulatedSpotify, _ directory: String,
        requestRenewal: @escaping @Sendable (Int) async throws -> Void
    ) throws -> MusicService {
        let tokens = VaultAccessTokens(
            vault: TokenVaultReader(directory: directory), session: Session.default, timeout: .seconds(30),
            requestRenewal: requestRenewal)
        let api = SpotifyWebAPI(tokens: tokens, client: spotify.client, host: .local(spotify.base))
        let repository = KeepingPlaylistRepository(
            catalog: api, database: try SongDatabase(DatabaseQueue()), session: Session.default,
            logger: .silent)
        return MusicService(repository: repository, player: api)
    }

    private func generate(_ id: String, _ music: MusicService) async throws -> Document.GeneratedPlaylist? {
        try await music.generatePlaylist(for: Command.PlaylistSelected(playlistID: id), messageID: "m")
            .compactMap { $0 as? Document.GeneratedPlaylist }.first
    }

    private func withVault(_ body: (String) async throws -> Void) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try await body(scratch.path("vault"))
    }
}

/// Collects the messages that a service returns while another service waits for it.
private final class Answers: Sendable {
    private let messages = Mutex<[any Message]>([])

    var all: [any Message] { messages.withLock(\.self) }

    func append(_ more: [any Message]) {
        messages.withLock { $0 += more }
    }
}

extension [any Message] {
    fileprivate var types: [String] { map { Swift.type(of: $0).type.description } }

    fileprivate var statuses: [DomainEvent.SpotifyAuthorizationUpdated.Status] {
        compactMap { ($0 as? DomainEvent.SpotifyAuthorizationUpdated)?.status }
    }
}

extension AuthorizationService {
    /// Handles a command to renew a token, as auth-service does.
    fileprivate func refresh(generation: Int, of session: String) async throws -> [any Message] {
        let cause = Attributes(
            type: Command.SpotifyTokenRefreshRequested.type, source: "music-service/1", subject: session)
        let (renewal, messages) = try await requestRenewal(of: generation, causedBy: cause)
        guard let renewal else { return messages }
        return messages + (try await renew(renewal)).messages
    }
}
