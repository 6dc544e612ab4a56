internal import Foundation

/// Spotify's authorization server: the authorization code flow with PKCE for a public client.
package protocol AuthorizationServer: Sendable {
    /// The URL at which a person gives consent to `request`.
    func authorizationURL(for request: AuthorizationRequest) -> String

    /// Exchanges a code for tokens. A code can be exchanged only once.
    /// - Throws: ``AuthorizationFailure`` or `CancellationError`.
    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant

    /// Requests a new access token.
    /// - Throws: ``AuthorizationFailure`` or `CancellationError`.
    func refresh(_ refreshToken: String) async throws -> TokenGrant
}

/// The authorization server's answer to a code or a refresh token.
package struct TokenGrant: Sendable {
    package let accessToken: String
    /// Nil if the server gave no new refresh token. The client then keeps the refresh token that it has.
    package let refreshToken: String?
    package let scope: String?
    package let lifetime: Duration

    package init(accessToken: String, refreshToken: String?, scope: String?, lifetime: Duration) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.lifetime = lifetime
    }

    /// The tokens to store. Nil if there is neither a new nor an old refresh token.
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
