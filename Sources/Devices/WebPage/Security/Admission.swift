internal import Foundation
package import HTTPOperations
internal import HTTPTypes
package import Hummingbird
internal import Logging
package import SignIn
internal import Sodium
internal import Support

/// The context of a request to the gateway.
package struct GatewayContext: ConnectionContext {
    package var coreContext: CoreRequestContextStorage
    package let connection: HTTPConnection
    /// The part of the page that the browser may use. Nil on a path that requires no sign-in.
    fileprivate var access: PageAccess?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = HTTPConnection(source: source)
    }

    /// The part of the page that the browser may use.
    /// - Throws: ``RequestError`` if the browser has not signed in.
    package func signedIn() throws(RequestError) -> PageAccess {
        guard let access else { throw .signedOut }
        return access
    }
}

/// Adds the headers that restrict a browser to every answer, turns errors into answers, and removes the bodies of
/// answers to HEAD.
struct Answers: RouterMiddleware {
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    private static let headers: [(HTTPField.Name, String)] = [
        (.contentSecurityPolicy, policy), (.xContentTypeOptions, "nosniff"), (.referrerPolicy, "no-referrer"),
        (.crossOriginOpenerPolicy, "same-origin"), (.crossOriginResourcePolicy, "same-origin"),
    ]

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var response = try await answer(request, context, next)
        if request.method == .head { response = response.createHeadResponse() }
        return Self.restricted(response)
    }

    /// The answer with the headers that restrict a browser.
    static func restricted(_ answer: Response) -> Response {
        var answer = answer
        for (name, value) in Self.headers { answer.headers[name] = value }
        if answer.headers[.cacheControl] == nil { answer.headers[.cacheControl] = "no-store" }
        return answer
    }

    private func answer(
        _ request: Request, _ context: GatewayContext,
        _ next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as RequestError {
            return error.response
        } catch let error as HTTPError {
            let message = error.body ?? error.status.reasonPhrase
            var response = RequestError(status: error.status, code: "http", message: message).response
            response.headers[.allow] = error.headers[.allow]
            return response
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            context.logger.error("a request failed: \(error)", metadata: ["path": "\(request.uri.path)"])
            return RequestError(
                status: .internalServerError, code: "internal", message: "the gateway failed; see its log"
            ).response
        }
    }
}

/// Refuses requests that change something without the header that no form can send.
struct OwnHeader: RouterMiddleware {
    static let header = HTTPField.Name.segue

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let isSafe = request.method == .get || request.method == .head
        guard isSafe || request.headers[Self.header] == "1" else {
            throw RequestError.forbidden("header", "the header X-Segue: 1 is missing")
        }
        return try await next(request, context)
    }
}

/// Refuses requests of browsers that have not signed in.
struct SignInRequirement: RouterMiddleware {
    let browsers: BrowserSignIn

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        if let access = browsers.access(of: request) {
            await context.connection.setUser(access == .operator ? .operator : .session)
            var context = context
            context.access = access
            return try await next(request, context)
        }
        if request.uri.path.begins(with: "/api/") { throw RequestError.signedOut }
        return BrowserSignIn.refusal
    }
}

/// Refuses requests of browsers that have signed in to one session.
struct OperatorRequirement: RouterMiddleware {
    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        if let session = try context.signedIn().session { throw RequestError.notOperator(session) }
        return try await next(request, context)
    }
}

/// Refuses requests that publish or remove something while the gateway is read-only.
struct Publishing: RouterMiddleware {
    let isReadOnly: Bool

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard !isReadOnly else { throw RequestError.readOnly }
        return try await next(request, context)
    }
}

/// Refuses requests of programs, such as Prometheus, without the token. If no token is required, it refuses those of
/// browsers that have signed in to one session.
struct TokenRequirement: RouterMiddleware {
    let browsers: BrowserSignIn
    /// Nil if no token is required.
    let token: String?
    /// False if every request is refused: the gateway can be reached from other machines, and there is no token.
    let isOpen: Bool

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard isOpen, accepts(request) else {
            throw RequestError(
                status: .unauthorized, code: "no-token",
                message: "send 'Authorization: Bearer TOKEN', with the token of --metrics-token-file")
        }
        if token == nil, let session = browsers.access(of: request)?.session { throw RequestError.notOperator(session) }
        return try await next(request, context)
    }

    private func accepts(_ request: Request) -> Bool {
        guard let token else { return true }
        guard let given = request.headers[.authorization]?.removing(prefix: "Bearer ") else { return false }
        return ConstantTime.areEqual(Data(given.utf8), Data(token.utf8))
    }
}

extension HTTPField.Name {
    fileprivate static let crossOriginOpenerPolicy = Self.known("Cross-Origin-Opener-Policy")
    fileprivate static let referrerPolicy = Self.known("Referrer-Policy")
    fileprivate static let segue = Self.known("X-Segue")

    /// The name of a header that the code itself contains, so it is valid.
    static func known(_ name: StaticString) -> Self {
        guard let name = Self("\(name)") else { preconditionFailure("'\(name)' is not the name of a header") }
        return name
    }
}
