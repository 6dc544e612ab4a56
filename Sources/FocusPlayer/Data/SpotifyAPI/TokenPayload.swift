internal import Authorization

/// What the token endpoint gives (RFC 6749 §5.1).
struct TokenPayload: Decodable {
    let accessToken: String
    let refreshToken: String?
    let scope: String?
    let expiresIn: Int?

    var grant: TokenGrant {
        TokenGrant(
            accessToken: accessToken, refreshToken: refreshToken, scope: scope,
            lifetime: .seconds(max(0, expiresIn ?? 3600)))
    }
}
