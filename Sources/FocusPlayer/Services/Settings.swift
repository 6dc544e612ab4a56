internal import Foundation
package import ServiceRuntime
package import SpotifyAPI

/// What auth-service is told by its environment: `SPOTIFY_CLIENT_ID`, `SEGUE_STATE_DIR`, and, to talk to a stand-in,
/// `SPOTIFY_ACCOUNTS_URL`.
package struct AuthorizationSettings: Hashable, Sendable {
    package let clientID: String
    package let host: BaseURL
    /// It is there, and for its owner only.
    package let vaultDirectory: String

    /// - Throws: `ConfigurationErrors`.
    package init(_ configuration: ServiceConfiguration) throws {
        var checks = ConfigurationChecks(configuration)
        let clientID = try checks.value { try $0.clientID() }
        let host = try checks.value { try $0.host("SPOTIFY_ACCOUNTS_URL", default: .spotifyAccounts) }
        let vault = try checks.value { try $0.vaultDirectory() }
        guard let clientID, let host, let vault else { throw ConfigurationErrors(checks.errors) }
        self.clientID = clientID
        self.host = host
        vaultDirectory = vault
    }
}

/// What music-service is told by its environment: `SEGUE_STATE_DIR`, and, to talk to a stand-in, `SPOTIFY_API_URL`.
package struct MusicSettings: Hashable, Sendable {
    package let host: BaseURL
    package let vaultDirectory: String
    /// The file of the song database, in a directory that is there.
    package let databasePath: String

    /// - Throws: `ConfigurationErrors`.
    package init(_ configuration: ServiceConfiguration) throws {
        var checks = ConfigurationChecks(configuration)
        let host = try checks.value { try $0.host("SPOTIFY_API_URL", default: .spotifyAPI) }
        let vault = try checks.value { try $0.vaultDirectory() }
        let state = try checks.value { try $0.stateDirectory(for: "music-service") }
        guard let host, let vault, let state else { throw ConfigurationErrors(checks.errors) }
        self.host = host
        vaultDirectory = vault
        databasePath = state.appendingPathComponent("songs.sqlite").path
    }
}

/// Reads settings and collects every mistake on the way, instead of stopping at the first.
private struct ConfigurationChecks {
    private let configuration: ServiceConfiguration
    private(set) var errors: [ConfigurationError] = []

    init(_ configuration: ServiceConfiguration) {
        self.configuration = configuration
    }

    /// - Returns: nil if it cannot be read; then the error is kept.
    mutating func value<Value>(_ read: (ServiceConfiguration) throws -> Value) throws -> Value? {
        do {
            return try read(configuration)
        } catch let error as ConfigurationError {
            // One variable may stand behind several settings.
            if !errors.contains(error) { errors.append(error) }
            return nil
        }
    }
}

extension ServiceConfiguration {
    /// What Spotify knows the app by. Not a secret, but everybody's own.
    fileprivate func clientID() throws -> String {
        guard let clientID = value("SPOTIFY_CLIENT_ID") else {
            throw ConfigurationError(
                "SPOTIFY_CLIENT_ID is not set",
                recovery: "set it to the client id of an app that you registered at developer.spotify.com")
        }
        return clientID
    }

    /// A host that tokens are sent to.
    fileprivate func host(_ name: String, default standard: BaseURL) throws -> BaseURL {
        guard let text = value(name) else { return standard }
        guard let url = BaseURL(text) else {
            throw ConfigurationError(
                "\(name) is '\(text)'",
                recovery: "set it to https://HOST, or http://127.0.0.1:PORT for a server on this machine")
        }
        return url
    }

    /// Where auth-service keeps the tokens and music-service reads them.
    fileprivate func vaultDirectory() throws -> String {
        try stateDirectory(for: "vault").path
    }
}
