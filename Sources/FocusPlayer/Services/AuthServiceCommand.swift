package import ArgumentParser
internal import HTTPClient
internal import ServiceRuntime

package struct AuthServiceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "auth-service", abstract: "Connects each session to a Spotify account and keeps it connected.",
        discussion: """
            SPOTIFY_CLIENT_ID is the app's client id at Spotify. The folder SEGUE_STATE_DIR contains the token vault;
            only one process may write to the vault. If SPOTIFY_ACCOUNTS_URL is set, its value is used instead of
            https://accounts.spotify.com, for example in tests.
            """)

    @OptionGroup var options: ServiceOptions

    package init() {}

    package func run() async throws {
        try await HTTPClient.with { try await ServiceProgram.authorization($0).run(options) }
    }
}
