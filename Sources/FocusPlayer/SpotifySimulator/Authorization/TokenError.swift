/// A refusal of `/api/token`, RFC 6749 §5.2.
struct TokenError: Error, Sendable, Equatable {
    /// The codes of RFC 6749 that Spotify uses.
    enum Code: String, Encodable, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
    }

    /// What programs act on.
    let code: Code
    /// What people read.
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static let invalidClient = Self(.invalidClient, "Invalid client")
    static let incorrectVerifier = Self(.invalidGrant, "code_verifier was incorrect")
    static let invalidCode = Self(.invalidGrant, "Invalid authorization code")
    static let invalidRedirectURI = Self(.invalidGrant, "Invalid redirect URI")
    static let invalidRefreshToken = Self(.invalidGrant, "Invalid refresh token")
    static let revokedRefreshToken = Self(.invalidGrant, "Refresh token revoked")
    static let expiredRefreshToken = Self(.invalidGrant, "Refresh token expired")
}
