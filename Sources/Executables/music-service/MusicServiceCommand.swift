import ArgumentParser
import HTTPClient
import Repositories
import ServiceRuntime
import Services
import SpotifyAPI
import TokenVault

@main
struct MusicServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "music-service", abstract: "Makes focus playlists and plays them on Spotify.",
        discussion: """
            The folder SEGUE_STATE_DIR contains the song database, and the token vault that auth-service writes.
            If SPOTIFY_API_URL is set, its value is used instead of https://api.spotify.com, for example in tests.
            """)

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        let process = ServiceProcess("music-service", receives: MusicHost.receives, sends: MusicHost.sends)
        try await HTTPClient.with { client in
            try await process.run(options) { process in
                let settings = try MusicSettings(process.configuration)
                return MusicHost(
                    vault: TokenVaultReader(directory: settings.vaultDirectory),
                    database: try SongDatabase(path: settings.databasePath), client: client, host: settings.host,
                    bus: process.bus, logger: process.logger, metrics: process.metrics
                ).services
            }
        }
    }
}
