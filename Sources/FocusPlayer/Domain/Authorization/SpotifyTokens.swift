package import Foundation

/// What lets the app act for a Spotify account. Its description never shows it.
package struct SpotifyTokens: Codable, Hashable, Sendable {
    package let accessToken: String
    package let refreshToken: String
    /// The scopes that were granted, separated by spaces.
    package let scope: String
    /// When Spotify will stop taking the access token, by this machine's clock.
    package let expiresAt: Date

    package init(accessToken: String, refreshToken: String, scope: String, expiresAt: Date) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.expiresAt = expiresAt
    }
}

extension SpotifyTokens: CustomStringConvertible, CustomReflectable {
    package var description: String { "SpotifyTokens(redacted, expires \(expiresAt))" }
    package var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt]) }
}
