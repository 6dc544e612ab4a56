internal import Foundation
package import ServiceRuntime
package import SpotifyAPI

/// What music-service is told by its environment: `SEGUE_STATE_DIR`, and, to talk to a stand-in, `SPOTIFY_API_URL`.
package struct MusicSettings: Hashable, Sendable {
    package let hosts: SpotifyHosts
    package let vaultDirectory: String
    /// The file of the song database, in a directory that is there.
    package let databasePath: String

    /// - Throws: `ConfigurationErrors`.
    package init(_ configuration: ServiceConfiguration) throws {
        var checks = ConfigurationChecks(configuration)
        let api = try checks.value { try $0.host("SPOTIFY_API_URL", default: .spotifyAPI) }
        let vault = try checks.value { try $0.vaultDirectory() }
        let state = try checks.value { try $0.stateDirectory(for: "music-service") }
        guard let api, let vault, let state else { throw ConfigurationErrors(checks.errors) }
        hosts = SpotifyHosts(api: api)
        vaultDirectory = vault
        databasePath = state.appendingPathComponent("songs.sqlite").path
    }
}
