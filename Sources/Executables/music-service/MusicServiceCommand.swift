import ArgumentParser
import HTTPClient
import ServiceRuntime
import Services

@main
struct MusicServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "music-service", abstract: "Makes focus playlists and plays them on Spotify.",
        discussion: """
            The folder SEGUE_STATE_DIR contains the song database, and the token vault that auth-service writes.
            If SPOTIFY_API_URL is set, its value is used instead of https://api.spotify.com, for example in tests.
            """)

    @OptionGroup var options: ServiceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await HTTPClient.with { try await ServiceProgram.music($0).run(options) }
    }
}
