import HTTPTypes
import Hummingbird
import Support

/// The routes of accounts.spotify.com: consent and tokens.
struct AccountsRoutes: Sendable {
    let simulation: Simulation

    /// `GET /authorize`
    func showConsent(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let fields = try request.queryFields()
        return try await answering {
            try await simulation.update { state, _ in
                let request = try ConsentRequest(fields, clients: state.catalogue.clients)
                return ConsentPage(request: request, users: state.catalogue.accounts.map(\.user)).response
            }
        }
    }

    /// `POST /authorize`: the submitted consent form. The form contains the whole request, which is checked again.
    func decide(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let fields = try await request.formFields()
        return try await answering {
            try await simulation.update { state, now in
                let request = try ConsentRequest(fields, clients: state.catalogue.clients)
                guard fields["decision"] == ConsentPage.approval else {
                    return .redirect(to: request.redirect(("error", "access_denied")), type: .found)
                }
                guard let account = state.indexOfAccount(fields[ConsentPage.account]) else {
                    throw ConsentRequestError.unknownAccount
                }
                let user = state.accounts[account].catalogue.user
                let code = state.authorization.approve(request, account: user.id, at: now)
                return .redirect(to: request.redirect(("code", code.value)), type: .found)
            }
        }
    }

    /// `POST /api/token`
    func tokens(_ request: Request, _ context: SimulatorContext) async throws -> TokenResponse {
        guard request.headers[.contentType]?.begins(with: "application/x-www-form-urlencoded") == true else {
            throw TokenError(.invalidRequest, "the body must be application/x-www-form-urlencoded")
        }
        let tokenRequest = try TokenRequest(try await request.formFields())
        return TokenResponse(try await simulation.update { state, now in try state.tokens(for: tokenRequest, at: now) })
    }

    /// Shows an invalid request to the person at the browser. Nothing is sent to the redirect URI.
    private func answering(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch let error as ConsentRequestError {
            return .text("\(error.rawValue)\n", status: .badRequest)
        }
    }
}

/// The page on which a person chooses an account, and approves or denies: a plain form that a browser, `curl` or a test
/// can submit.
///
/// The first account is chosen unless the person chooses another. The first button approves. The hidden fields contain
/// the whole request.
private struct ConsentPage {
    /// The value of `decision` that approves. Any other value denies.
    static let approval = "approve"

    /// The name of the field with the id of the chosen user.
    static let account = "account"

    let request: ConsentRequest
    let users: [Catalogue.User]

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <title>Authorize \(Escape.html(request.client.id))</title>
        <h1>\(Escape.html(request.client.id)) would like to connect to \(Escape.html(target))</h1>
        <ul>
        \(request.scopes.map(\.rawValue).sorted().map { "<li>\(Escape.html($0))</li>" }.joined(separator: "\n"))
        </ul>
        <form method="post" action="/authorize">
        \(hiddenFields)
        \(choices)
        <button name="decision" value="\(Self.approval)">Agree</button>
        <button name="decision" value="deny">Cancel</button>
        </form>
        </html>

        """
    }

    private var target: String {
        users.count == 1 ? "the Spotify account of \(users[0].name)" : "a Spotify account"
    }

    /// A choice for each account. Empty if there is only one.
    private var choices: String {
        guard users.count > 1 else { return "" }
        return users.enumerated().map { index, user in
            let input = #"<input type="radio" name="\#(Self.account)" value="\#(Escape.html(user.id))""#
            return "<p><label>\(input)\(index == 0 ? " checked" : "")> \(Escape.html(user.name))</label></p>"
        }.joined(separator: "\n")
    }

    private var hiddenFields: String {
        request.parameters.sorted { $0.key < $1.key }
            .map { #"<input type="hidden" name="\#(Escape.html($0.key))" value="\#(Escape.html($0.value))">"# }
            .joined(separator: "\n")
    }
}

/// The answer of `/api/token`, RFC 6749 §5.1.
struct TokenResponse: Encodable {
    private let accessToken: String
    private let tokenType = "Bearer"
    private let scope: String
    private let expiresIn: Int
    /// The new refresh token. `nil`, and absent from the JSON, if the client keeps the refresh token that it has.
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
        // RFC 6749 §5.1 requires this header.
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    var description: String { "TokenResponse(redacted)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension TokenError: HTTPResponseError {
    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try context.responseEncoder.encode(self, from: request, context: context)
        response.status = status
        // The answers of the token endpoint are not for caches, RFC 6749 §5.1.
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
