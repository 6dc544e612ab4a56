internal import Foundation

/// Spotify's authorization server, as the domain sees it: the authorization code flow with PKCE of a public client.
package protocol AuthorizationServer: Sendable {
    /// Where a person consents to `request`.
    func authorizationURL(for request: AuthorizationRequest) -> String

    /// Trades a code for tokens. A code can be traded once.
    /// - Throws: ``AuthorizationFailure``, or `CancellationError`.
    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant

    /// Asks for a new access token.
    /// - Throws: ``AuthorizationFailure``, or `CancellationError`.
    func refresh(_ refreshToken: String) async throws -> TokenGrant
}

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
