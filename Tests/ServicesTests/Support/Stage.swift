import Authorization
import Contracts
import EventBus
import Foundation
import Repositories
import RuntimeTestSupport
import ServiceRuntime
import Services
import SpotifyTestSupport
import Testing
import TokenVault

/// The two services on an in-memory bus, with Spotify simulated over HTTP, and a device that a person holds.
struct Stage: Sendable {
    let spotify: SimulatedSpotify
    let directory: String
    let log = LogTranscript()
    let hub = InMemoryHub()
    private let server: OverheardServer

    /// Runs a test; when it is done, no secret may have been published or logged, nor anything published that the
    /// processes do not announce.
    static func with(_ body: (Stage) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "segue-services-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await SimulatedSpotify.with { spotify in
            let stage = Stage(
                spotify: spotify, directory: directory.path, server: OverheardServer(spotify.accounts))
            try await body(stage)
            try await stage.expectDiscretion()
        }
    }

    var secrets: Set<String> { server.secrets }

    /// What auth-service is made of; each time that of a new incarnation.
    var authorization: AuthorizationService {
        get async throws {
            let vault = try await openVault()
            return AuthorizationService(server: server, store: vault, attempts: vault)
        }
    }

    /// Of an incarnation that has just ended, a task may still hold the vault for a moment, where the kernel would have let
    /// go of a dead process's lock.
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

    var device: InMemoryEventBus { InMemoryEventBus(source: "device/test", hub: hub) }

    /// Runs both services beside `body`.
    func withServices(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withAuthService { try await withMusicService(body) }
    }

    /// Runs one incarnation of auth-service beside `body`; leaving is its death.
    func withAuthService(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let bus = InMemoryEventBus(source: "auth-service/\(UUID().uuidString)", hub: hub)
        let host = AuthorizationHost(service: try await authorization, bus: bus, logger: log.logger)
        try await withRunning(host, body)
    }

    func withMusicService(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let bus = InMemoryEventBus(source: "music-service/\(UUID().uuidString)", hub: hub)
        let host = MusicHost(
            vault: vault, database: try SongDatabase(path: "\(directory)/songs.sqlite"), client: spotify.client,
            hosts: .all(at: spotify.base), bus: bus, logger: log.logger)
        let services = host.services
        try await withRunning(services[0]) {
            try await withRunning(services[1]) { try await withRunning(services[2], body) }
        }
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
        let promised = ["auth-service": AuthorizationHost.sends.types, "music-service": MusicHost.sends.types]
        for message in published {
            let process = message.attributes.source.prefix { $0 != "/" }
            guard let sends = promised[String(process)] else { continue }
            #expect(sends.contains(message.type), "\(process) does not say that it sends \(message.type)")
        }
    }
}
