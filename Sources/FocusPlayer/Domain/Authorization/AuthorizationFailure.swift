/// Why the authorization server gave no tokens. Holds what the server said, never a code, a verifier or a token.
package enum AuthorizationFailure: Error, Hashable {
    /// The grant is no good and never will be (`invalid_grant`): code or verifier wrong, refresh token revoked or expired.
    case grantRefused(String)
    /// The request is one that this server will never accept: unknown client, redirect URI that is not registered.
    case requestRefused(String)
    /// Too many requests; worth trying again after this long, if the server said.
    case rateLimited(retryAfter: Duration?)
    /// No answer, or none that can be read. Worth trying again.
    case unavailable(String)
}
