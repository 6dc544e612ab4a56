import Foundation
import ServiceRuntime
import Services
import SpotifyAPI
import TestSupport
import Testing

@Suite("Settings")
struct SettingsTests {
    @Test("The default is the real Spotify, and both services share one vault")
    func defaults() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let state = scratch.path("state")
        let environment = ["SPOTIFY_CLIENT_ID": "id", "SEGUE_STATE_DIR": state]
        let authorization = try AuthorizationSettings(ServiceConfiguration(environment: environment))
        let music = try MusicSettings(ServiceConfiguration(environment: environment))
        #expect(authorization.clientID == "id")
        #expect(authorization.host == .spotifyAccounts)
        #expect(music.host == .spotifyAPI)
        #expect(authorization.vaultDirectory == music.vaultDirectory)
        #expect(music.databasePath == "\(state)/music-service/songs.sqlite")
    }

    @Test("Each mistake is reported once")
    func mistakes() throws {
        let environment = ["SPOTIFY_ACCOUNTS_URL": "http://spotify.example", "SPOTIFY_API_URL": "ftp://x"]
        let configuration = ServiceConfiguration(environment: environment)
        let authorization = #expect(throws: ConfigurationErrors.self) { try AuthorizationSettings(configuration) }
        #expect(
            authorization?.errors.map(\.message) == [
                "SPOTIFY_CLIENT_ID is not set",
                "SPOTIFY_ACCOUNTS_URL: 'http://spotify.example' is not an address to which tokens may be sent: its "
                    + "scheme is not https, or http for this machine",
                "SEGUE_STATE_DIR is not set",
            ])
        let music = #expect(throws: ConfigurationErrors.self) { try MusicSettings(configuration) }
        #expect(
            music?.errors.map(\.message) == [
                "SPOTIFY_API_URL: 'ftp://x' is not an address to which tokens may be sent: its scheme is not https, or "
                    + "http for this machine",
                "SEGUE_STATE_DIR is not set",
            ])
    }

    @Test("An address with a password is refused without the password")
    func password() throws {
        let configuration = ServiceConfiguration(environment: ["SPOTIFY_API_URL": "https://anna:secret@spotify.example"]
        )
        let error = #expect(throws: ConfigurationErrors.self) { try MusicSettings(configuration) }
        #expect(error?.errors.first?.message.contains("secret") == false)
    }
}
