internal import Authorization
package import HTTPClient
internal import Logging
internal import Repositories
package import ServiceRuntime
internal import SpotifyAPI
internal import TokenVault

/// The app's services as programs.
extension ServiceProgram {
    /// Connects each session to a Spotify account.
    package static func authorization(_ client: HTTPClient) -> ServiceProgram {
        var process = ServiceProcess("auth-service", [AuthorizationHost.handlers(Prepared())])
        process.holdsSecrets = true
        return ServiceProgram(process) { process in
            let settings = try AuthorizationSettings(process.configuration)
            let accounts = SpotifyAccounts(clientID: settings.clientID, client: client, host: settings.host)
            let vault = try await TokenVault.open(directory: settings.vaultDirectory)
            let logger = process.logger
            let service = AuthorizationService(
                server: accounts, store: vault, attempts: vault, log: { logger.error("\($0)") })
            return [
                AuthorizationHost(
                    service: service, bus: process.bus, logger: logger, metrics: process.metrics)
            ]
        }
    }

    /// Makes focus playlists and plays them.
    package static func music(_ client: HTTPClient) -> ServiceProgram {
        let host = Prepared<MusicHost>()
        return ServiceProgram(MusicHost.handlers(host), holdsSecrets: true) { process in
            let settings = try MusicSettings(process.configuration)
            host.set(
                MusicHost(
                    vault: TokenVaultReader(directory: settings.vaultDirectory),
                    database: try SongDatabase(path: settings.databasePath), client: client, host: settings.host))
        }
    }
}
