internal import Foundation
internal import ServiceRuntime
internal import SpotifyAPI

extension ServiceConfiguration {
    /// What Spotify knows the app by. Not a secret, but everybody's own.
    func clientID() throws -> String {
        guard let clientID = value("SPOTIFY_CLIENT_ID") else {
            throw ConfigurationError(
                "SPOTIFY_CLIENT_ID is not set",
                recovery: "set it to the client id of an app that you registered at developer.spotify.com")
        }
        return clientID
    }

    /// A host that tokens are sent to.
    func host(_ name: String, default standard: BaseURL) throws -> BaseURL {
        guard let text = value(name) else { return standard }
        guard let url = BaseURL(text) else {
            throw ConfigurationError(
                "\(name) is '\(text)'",
                recovery: "set it to https://HOST, or http://127.0.0.1:PORT for a server on this machine")
        }
        return url
    }

    /// Where auth-service keeps the tokens and music-service reads them.
    func vaultDirectory() throws -> String {
        try stateDirectory(for: "vault").path
    }
}
