/// What `/api/token` grants.
struct IssuedTokens: Sendable {
    let accessToken: Secret
    /// From now, in seconds.
    let lifetimeInSeconds: Int
    /// `nil` when the client is to keep the refresh token that it has.
    let refreshToken: Secret?
    let scopes: Set<Scope>
}
