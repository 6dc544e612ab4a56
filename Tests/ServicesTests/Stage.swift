import Authorization
import Consuming
import Contracts
import EventBus
import Foundation
import HTTPClient
import HTTPTypes
import Music
import Repositories
import ServiceRuntime
import SpotifyAPI
import SpotifyTestSupport
import Synchronization
import TestSupport
import Testing
import TokenVault
import Vocabulary

@testable import Services

/// Both services on an in-memory bus, Spotify simulated over HTTP, and a device that a person uses.
struct Stage: Sendable {
    let spotify: SimulatedSpotify
    let directory: String
    let log = LogRecorder()
    let hub = InMemoryHub(maximumGap: 1000)
    private let server: OverheardServer

    /// Runs a test. Afterwards checks that no secret was published or logged, and that the services published only
    /// messages of their contracts.
    static func with(_ body: (Stage) async throws -> Void) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try await SimulatedSpotify.with { spotify in
            let stage = Stage(
                spotify: spotify, directory: scratch.path, server: OverheardServer(spotify.accounts))
            try await stage.device.beginSession()
            try await body(stage)
            try await stage.expectDiscretion()
        }
    }

    var secrets: Set<String> { server.secrets }

    /// Makes each refresh fail from now on. Nil ends this.
    func failRefreshes(with failure: AuthorizationFailure?) {
        server.failRefreshes(with: failure)
    }

    /// A new authorization service on the vault, as in a new process of auth-service.
    var authorization: AuthorizationService {
        get async throws {
            try await authorization { $0 }
        }
    }

    /// - Parameter store: returns the store of the tokens, which may wrap the vault.
    private func authorization(_ store: (TokenVault) -> any TokenStore) async throws -> AuthorizationService {
        let vault = try await openVault()
        return AuthorizationService(server: server, store: store(vault), attempts: vault)
    }

    /// Waits for the lock of the vault. A task of the previous run may still hold the lock for a moment.
    private func openVault() async throws -> TokenVault {
        while true {
            do {
                return try await TokenVault.open(directory: vaultDirectory)
            } catch let error as TokenStoreError where error.code == "vault.taken" {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    var vault: TokenVaultReader { TokenVaultReader(directory: vaultDirectory) }

    private var vaultDirectory: String { "\(directory)/vault" }

    var device: EventBus { EventBus.inMemory(source: "device/test", hub: hub) }

    /// Runs both services while `body` runs.
    func withServices(
        pace: PollingPace = PollingPace(), _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withAuthService { try await withMusicService(pace: pace, body) }
    }

    /// Runs auth-service while `body` runs. At the end, auth-service ends as if its process were killed.
    /// - Parameter store: returns the store of the tokens, which may wrap the vault.
    func withAuthService(
        store: (TokenVault) -> any TokenStore = { $0 }, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let bus = EventBus.inMemory(source: "auth-service/\(UUID().uuidString)", hub: hub)
        let host = AuthorizationHost(service: try await authorization(store), bus: bus, logger: log.logger)
        try await withRunning(host, body)
    }

    /// - Parameter pace: the intervals at which the playback is looked at.
    func withMusicService(
        pace: PollingPace = PollingPace(), _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let bus = EventBus.inMemory(source: "music-service/\(UUID().uuidString)", hub: hub)
        let host = Prepared<MusicHost>()
        host.set(
            MusicHost(
                vault: vault, database: try SongDatabase(path: "\(directory)/songs.sqlite"), client: spotify.client,
                host: .local(spotify.base), pace: pace))
        let services: [any ReadyService] = MusicHost.handlers(host).map { $0.service(on: bus, logger: log.logger) }
        try await Self.run(services[...], body)
    }

    private static func run(
        _ services: ArraySlice<any ReadyService>, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let first = services.first else { return try await body() }
        try await withRunning(first) { try await run(services.dropFirst(), body) }
    }

    private func expectDiscretion() async throws {
        let logged = log.text
        let published = try await device.everything()
        let text = published.map { "\($0.attributes) \(String(decoding: $0.data, as: UTF8.self))" }.joined(
            separator: "\n")
        for secret in secrets {
            #expect(!logged.contains(secret), "a secret is in the log")
            #expect(!text.contains(secret), "a secret is on the bus")
        }
        let promised = [
            "auth-service": AuthorizationHost.handlers(Prepared()).sends.types,
            "music-service": MusicHost.handlers(Prepared()).flatMap(\.sends).types,
        ]
        for message in published {
            let process = message.attributes.source.prefix { $0 != "/" }
            guard let sends = promised[String(process)] else { continue }
            #expect(sends.contains(message.type), "\(process) does not say that it sends \(message.type)")
        }
    }

    struct Page: Sendable {
        let status: Int
        let html: String
    }

    /// Sends the command that requests consent, and returns it with the URL of the consent page.
    func requestConsent(_ session: String = Session.default) async throws -> (cause: Envelope, url: String) {
        let cause = try await device.tap(Command.SpotifyAuthorizationRequested(), in: session)
        return (cause, try await device.outcome(of: cause, DomainEvent.SpotifyAuthURLGenerated.self).url)
    }

    /// Presses a button of Spotify's consent page, and follows the redirect.
    func press(_ button: String, as account: String? = nil, at url: String) async throws -> Page {
        try await browse(try await spotify.redirect(after: button, as: account, at: url))
    }

    func browse(_ url: String) async throws -> Page {
        let response = try await spotify.send(HTTPClient.Request(.get, url))
        return Page(status: response.status.code, html: response.text)
    }

    /// Connects an account: from the tap to the page in the browser.
    func connect(_ session: String = Session.default, as account: String? = nil) async throws {
        let (cause, url) = try await requestConsent(session)
        _ = try await press("approve", as: account, at: url)
        _ = try await device.outcome(of: cause, DomainEvent.SpotifyAuthorizationUpdated.self)
    }

    /// Chooses a playlist, and waits until it is ready.
    func choose(
        _ playlistID: String, in session: String = Session.default
    ) async throws -> Document.GeneratedPlaylist {
        let cause = try await device.tap(Command.PlaylistSelected(playlistID: playlistID), in: session)
        return try await generated(by: cause, .ready)
    }

    func generated(
        by cause: Envelope, _ status: LoadStatus
    ) async throws -> Document.GeneratedPlaylist {
        try await device.outcome(of: cause) { $0.status == status }
    }
}

extension TokenVaultReader {
    /// The tokens of the session `default`.
    func read() async throws -> StoredTokens { try await read(Session.default) }
}

extension EventBus {
    func status(after cause: Envelope) async throws -> DomainEvent.SpotifyAuthorizationUpdated.Status {
        try await outcome(of: cause, DomainEvent.SpotifyAuthorizationUpdated.self).status
    }
}

/// Spotify's authorization server. It records all secrets that it receives or sends.
final class OverheardServer: AuthorizationServer {
    private let server: SpotifyAccounts
    private let recorded = Mutex<Set<String>>([])
    private let failure = Mutex<AuthorizationFailure?>(nil)

    init(_ server: SpotifyAccounts) {
        self.server = server
    }

    var secrets: Set<String> { recorded.withLock(\.self) }

    func failRefreshes(with failure: AuthorizationFailure?) {
        self.failure.withLock { $0 = failure }
    }

    func authorizationURL(for request: AuthorizationRequest) -> String {
        server.authorizationURL(for: request)
    }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        record([code, verifier.value])
        return record(try await server.exchange(code: code, verifier: verifier, redirectURI: redirectURI))
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        record([refreshToken])
        if let failure = failure.withLock(\.self) { throw failure }
        return record(try await server.refresh(refreshToken))
    }

    private func record(_ grant: TokenGrant) -> TokenGrant {
        record([grant.accessToken, grant.refreshToken].compactMap(\.self))
        return grant
    }

    private func record(_ secrets: [String]) {
        recorded.withLock { $0.formUnion(secrets) }
    }
}
