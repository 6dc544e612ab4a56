package import ServiceRuntime
package import SpotifyAPI

/// What auth-service is told by its environment: `SPOTIFY_CLIENT_ID`, `SEGUE_STATE_DIR`, and, to talk to a stand-in,
/// `SPOTIFY_ACCOUNTS_URL`.
package struct AuthorizationSettings: Hashable, Sendable {
    package let clientID: String
    package let hosts: SpotifyHosts
    /// It is there, and for its owner only.
    package let vaultDirectory: String

    /// - Throws: `ConfigurationErrors`.
    package init(_ configuration: ServiceConfiguration) throws {
        var checks = ConfigurationChecks(configuration)
        let clientID = try checks.value { try $0.clientID() }
        let accounts = try checks.value { try $0.host("SPOTIFY_ACCOUNTS_URL", default: .spotifyAccounts) }
        let vault = try checks.value { try $0.vaultDirectory() }
        guard let clientID, let accounts, let vault else { throw ConfigurationErrors(checks.errors) }
        self.clientID = clientID
        hosts = SpotifyHosts(accounts: accounts)
        vaultDirectory = vault
    }
}
