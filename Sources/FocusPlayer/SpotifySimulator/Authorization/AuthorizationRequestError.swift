/// Why `/authorize` shows an error page in place of the consent page.
enum AuthorizationRequestError: String, Error, Sendable {
    case invalidClient = "INVALID_CLIENT: Invalid client"
    case invalidRedirectURI = "INVALID_CLIENT: Invalid redirect URI"
    case invalidResponseType = "response_type must be code"
    case invalidChallengeMethod = "code_challenge_method must be S256"
    case invalidChallenge = "code_challenge must be the base64url form of a SHA-256 digest"
    case invalidScope = "INVALID_SCOPE: Invalid scope"
}
