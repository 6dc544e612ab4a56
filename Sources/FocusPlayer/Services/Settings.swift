internal import Foundation
package import ServiceRuntime
package import SpotifyAPI

/// The settings of auth-service, from the environment: `SPOTIFY_CLIENT_ID`, `SEGUE_STATE_DIR` and, to use a simulator,
/// `SPOTIFY_ACCOUNTS_URL`.
package struct AuthorizationSettings: Hashable, Sendable {
    package let clientID: String
    package let host: BaseURL
    /// The directory of the vault. It exists.
    package let vaultDirectory: String

    /// - Throws: `ConfigurationErrors` with all missing and invalid settings.
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

/// The settings of music-service, from the environment: `SEGUE_STATE_DIR` and, to use a simulator, `SPOTIFY_API_URL`.
package struct MusicSettings: Hashable, Sendable {
    package let host: BaseURL
    package let vaultDirectory: String
    /// The file of the song database. Its directory exists.
    package let databasePath: String

    /// - Throws: `ConfigurationErrors` with all missing and invalid settings.
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

/// Reads settings and collects all errors, instead of stopping at the first one.
private struct ConfigurationChecks {
    private let configuration: ServiceConfiguration
    private(set) var errors: [ConfigurationError] = []

    init(_ configuration: ServiceConfiguration) {
        self.configuration = configuration
    }

    /// - Returns: nil if the value is missing or invalid; the error is then collected.
    mutating func value<Value>(_ read: (ServiceConfiguration) throws -> Value) throws -> Value? {
        do {
            return try read(configuration)
        } catch let error as ConfigurationError {
            // Several settings may come from the same variable.
            if !errors.contains(error) { errors.append(error) }
            return nil
        }
    }
}

extension ServiceConfiguration {
    /// The client id of the app at Spotify.
    fileprivate func clientID() throws -> String {
        guard let clientID = value("SPOTIFY_CLIENT_ID") else {
            throw ConfigurationError(
                "SPOTIFY_CLIENT_ID is not set",
                recovery: "set it to the client id of an app that you registered at developer.spotify.com")
        }
        return clientID
    }

    /// The address of a server to which tokens are sent, from a variable. `standard` if the variable is not set.
    fileprivate func host(_ name: String, default standard: BaseURL) throws -> BaseURL {
        guard let text = value(name) else { return standard }
        do {
            return try BaseURL(text)
        } catch {
            // User information may be a password.
            let quoted = text.unicodeScalars.contains("@") ? "this" : "'\(text)'"
            throw ConfigurationError(
                "\(name): \(quoted) is not an address to which tokens may be sent: \(error)",
                recovery: "set it to https://HOST, or http://127.0.0.1:PORT for a server on this machine")
        }
    }

    /// The directory in which auth-service stores the tokens and music-service reads them.
    fileprivate func vaultDirectory() throws -> String {
        try stateDirectory(for: "vault").path
    }
}
