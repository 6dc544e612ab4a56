package import ArgumentParser
internal import HTTPClient
internal import ServiceRuntime

package struct MusicServiceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "music-service", abstract: "Makes focus playlists and plays them on Spotify.",
        discussion: """
            The folder SEGUE_STATE_DIR contains the song database, and the token vault that auth-service writes.
            If SPOTIFY_API_URL is set, its value is used instead of https://api.spotify.com, for example in tests.
            """)

    @OptionGroup var options: ServiceOptions

    package init() {}

    package func run() async throws {
        try await HTTPClient.with { try await ServiceProgram.music($0).run(options) }
    }
}
