import HTTPTypes

/// A request to `/api/token`.
enum TokenRequest: Sendable {
    /// Exchange a code for tokens.
    case authorizationCode(clientID: String, code: String, redirectURI: String, verifier: String)
    /// Exchange a refresh token for an access token.
    case refreshToken(clientID: String, token: String)

    /// - Parameter form: The decoded form.
    /// - Throws: `TokenError` if the grant type is unknown or a parameter is missing.
    init(_ form: [String: String]) throws(TokenError) {
        func required(_ name: String) throws(TokenError) -> String {
            guard let value = form[name], !value.isEmpty else {
                throw TokenError(.invalidRequest, "\(name) must be supplied")
            }
            return value
        }
        switch form["grant_type"] {
        case "authorization_code":
            self = .authorizationCode(
                clientID: try required("client_id"),
                code: try required("code"),
                redirectURI: try required("redirect_uri"),
                verifier: try required("code_verifier")
            )
        case "refresh_token":
            self = .refreshToken(clientID: try required("client_id"), token: try required("refresh_token"))
        default:
            throw TokenError(.unsupportedGrantType, "grant_type must be authorization_code or refresh_token")
        }
    }

    var clientID: String {
        switch self {
        case .authorizationCode(let clientID, _, _, _), .refreshToken(let clientID, _): clientID
        }
    }
}

extension TokenRequest: CustomStringConvertible, CustomReflectable {
    var description: String { "TokenRequest(client: \(clientID), redacted)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error of `/api/token`, RFC 6749 §5.2.
struct TokenError: Error, Encodable, Sendable, Equatable {
    /// The codes that the simulator chooses: those of RFC 6749 §5.2, and for failures of the server those of §4.1.2.1.
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"

        /// The code that usually accompanies the status.
        fileprivate init(_ status: HTTPResponse.Status) {
            switch status.code {
            case 401: self = .invalidClient
            case 429, 503: self = .temporarilyUnavailable
            case 500...: self = .serverError
            default: self = .invalidRequest
            }
        }
    }

    let status: HTTPResponse.Status
    /// The code, for programs.
    private let code: String
    /// The message, for people.
    private let message: String

    private enum CodingKeys: String, CodingKey {
        case code = "error"
        case message = "error_description"
    }

    init(_ code: Code, _ message: String) {
        self.init(.badRequest, message, code: code.rawValue)
    }

    /// - Parameter code: Nil for the code that usually accompanies the status.
    init(_ status: HTTPResponse.Status, _ message: String, code: String?) {
        self.status = status
        self.code = code ?? Code(status).rawValue
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
