import ArgumentParser
import Authorization
import HTTPClient
import ServiceRuntime
import Services
import SpotifyAPI
import TokenVault

@main
struct AuthServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth-service", abstract: "Connects each session to a Spotify account and keeps it connected.",
        discussion: """
            SPOTIFY_CLIENT_ID is the app's client id at Spotify. The folder SEGUE_STATE_DIR contains the token vault;
            only one process may write to the vault. If SPOTIFY_ACCOUNTS_URL is set, its value is used instead of
            https://accounts.spotify.com, for example in tests.
            """)

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let process = ServiceProcess(
            "auth-service", receives: AuthorizationHost.receives, sends: AuthorizationHost.sends)
        try await HTTPClient.with { client in
            try await process.run(options) { process in
                let settings = try AuthorizationSettings(process.configuration)
                let accounts = SpotifyAccounts(clientID: settings.clientID, client: client, host: settings.host)
                let vault = try await TokenVault.open(directory: settings.vaultDirectory)
                let service = AuthorizationService(server: accounts, store: vault, attempts: vault)
                return [
                    AuthorizationHost(
                        service: service, bus: process.bus, logger: process.logger, metrics: process.metrics)
                ]
            }
        }
    }
}
