internal import Foundation

/// What the authorization server answers to a code or a refresh token.
package struct TokenGrant: Sendable {
    package let accessToken: String
    /// Not always there: the refresh token that was used stays good then.
    package let refreshToken: String?
    package let scope: String?
    package let lifetime: Duration

    package init(accessToken: String, refreshToken: String?, scope: String?, lifetime: Duration) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.lifetime = lifetime
    }
}

extension TokenGrant {
    /// The tokens to keep from now on; nil if there is no refresh token, neither new nor kept.
    func tokens(replacing old: SpotifyTokens? = nil, at now: Date) -> SpotifyTokens? {
        guard let refreshToken = refreshToken ?? old?.refreshToken else { return nil }
        return SpotifyTokens(
            accessToken: accessToken, refreshToken: refreshToken, scope: scope ?? old?.scope ?? "",
            expiresAt: now.addingTimeInterval(lifetime / .seconds(1)))
    }
}

extension TokenGrant: CustomStringConvertible, CustomReflectable {
    package var description: String { "TokenGrant(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
