import HTTPTypes
import Hummingbird

/// What `/api/token` answers, RFC 6749 §5.1.
struct TokenResponse: Encodable {
    private let accessToken: String
    private let tokenType = "Bearer"
    private let scope: String
    private let expiresIn: Int
    /// Left out, not null, when the client is to keep the one that it has.
    private let refreshToken: String?

    init(_ tokens: IssuedTokens) {
        accessToken = tokens.accessToken.value
        scope = tokens.scopes.list
        expiresIn = tokens.lifetimeInSeconds
        refreshToken = tokens.refreshToken?.value
    }
}

extension TokenResponse: ResponseGenerator {
    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try context.responseEncoder.encode(self, from: request, context: context)
        // RFC 6749 §5.1
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    var description: String { "TokenResponse(redacted)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
