import Authorization
import EventBus
import Foundation

/// A directory for one test. It is removed after the test.
final class ScratchDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "segue-vault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path for a vault, which does not exist yet.
    var vault: String { "\(path)/vault" }

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
    static func fixture(_ subject: String = Session.default) -> PendingAuthorization {
        PendingAuthorization(
            state: "state-secret", verifier: CodeVerifier(), redirectURI: "http://127.0.0.1:1/callback",
            cause: Attributes(
                type: MessageType(kind: .command, name: "SpotifyAuthorizationRequested"), source: "device/1",
                subject: subject, time: Date(timeIntervalSince1970: 1000)))
    }
}
