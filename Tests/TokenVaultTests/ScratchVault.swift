import Authorization
import EventBus
import Foundation
import TestSupport
import TokenVault

/// A vault in a folder that is removed when the test has ended.
final class ScratchVault: Sendable {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    deinit {
        folder.remove()
    }

    /// The path of the vault, which does not exist at first.
    var vault: String { folder.path("vault") }

    /// A path beside the vault.
    var elsewhere: String { folder.path("elsewhere") }

    func file(_ name: String) -> String { "\(vault)/\(name)" }

    func content(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: file(name)))
    }

    func write(_ content: Data, to name: String) throws {
        try content.write(to: URL(filePath: file(name)))
        try setMode(0o600, of: name)
    }

    func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    }

    func mode(_ name: String = "") throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: vault).sorted() }
    }
}

extension SpotifyTokens {
    static func fixture(_ number: Int = 1) -> SpotifyTokens {
        SpotifyTokens(
            accessToken: "access-secret-\(number)", refreshToken: "refresh-secret-\(number)", scope: "a",
            expiresAt: Date(timeIntervalSince1970: 1000))
    }
}

extension PendingAuthorization {
    static func fixture(_ subject: String = Session.default, state: String = "state-secret") -> PendingAuthorization {
        PendingAuthorization(
            state: state, verifier: CodeVerifier(), redirectURI: "http://127.0.0.1:1/callback",
            cause: Attributes(
                type: MessageType(kind: .command, name: "SpotifyAuthorizationRequested"), source: "device/1",
                subject: subject, time: Date(timeIntervalSince1970: 1000)),
            requestedAt: Date(timeIntervalSince1970: 1000))
    }
}

/// The session `default`.
extension TokenVault {
    func load() async throws -> StoredTokens { try await load(of: Session.default) }

    @discardableResult
    func save(_ tokens: SpotifyTokens) async throws -> StoredTokens { try await save(tokens, of: Session.default) }

    @discardableResult
    func clear() async throws -> StoredTokens { try await clear(Session.default) }

    func replacePending(with requests: [PendingAuthorization]) async throws {
        try await changePending { $0 = requests }
    }
}

extension TokenVaultReader {
    func read() async throws -> StoredTokens { try await read(Session.default) }

    func waitForGeneration(after generation: Int, timeout: Duration) async throws -> StoredTokens? {
        try await waitForGeneration(after: generation, failures: 0, of: Session.default, timeout: timeout)
    }
}
