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
