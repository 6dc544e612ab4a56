import HTTPOperations
import HTTPTypes
import Hummingbird
import Logging
import Support

/// Counts requests by route.
struct RequestCounter: RouterMiddleware {
    let simulation: Simulation

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let route = "\(request.method.rawValue) \(context.endpointPath ?? "unrouted")"
        try await simulation.update { state, _ in state.count(route) }
        // Only the route is logged: the URI and the headers contain codes and tokens.
        context.logger.debug("request", metadata: ["http.route": "\(route)"])
        return try await next(request, context)
    }
}

/// Admits requests whose access token is valid and has the scope.
struct BearerAuthentication: RouterMiddleware {
    let simulation: Simulation
    /// `nil` if every valid token is admitted.
    let scope: Scope?

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let header = request.headers[.authorization]
        var context = context
        (context.account, context.scopes) = try await simulation.update { state, now in
            let access = try state.authorization.access(authorization: header, at: now)
            guard let account = state.indexOfAccount(access.account) else { throw WebAPIError.invalidAccessToken }
            return (account, access.scopes)
        }
        if let scope, !context.scopes.contains(scope) { throw WebAPIError.insufficientScope }
        return try await next(request, context)
    }
}

/// Admits requests with the market of the token's account, unless the control routes have forbidden it.
struct TokenMarketCheck: RouterMiddleware {
    let simulation: Simulation

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        if try request.queryFields()["market"] == Library.tokenMarket {
            switch try await simulation.update({ state, _ in state.tokenMarket }) {
            case .accepted: break
            case .invalid: throw WebAPIError.badRequest("Invalid market code")
            case .scope:
                guard context.scopes.contains(.userReadPrivate) else { throw WebAPIError.insufficientScope }
            }
        }
        return try await next(request, context)
    }
}

/// Converts errors to answers, also those of the framework, for example an unknown route or a malformed form.
/// `ErrorForm` has the forms of the answers.
struct ErrorEnvelope: RouterMiddleware {
    /// The operations that tell why a request has no route.
    let operations: OperationTable

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            let form = ErrorForm(path: request.uri.path)
            if error is TokenError || error is WebAPIError && form == .webAPI {
                return try error.response(from: request, context: context)
            }
            let message = (error as? WebAPIError)?.message ?? (error as? HTTPError)?.body ?? error.status.reasonPhrase
            guard error is HTTPError, error.status == .notFound else {
                return try form.answer(error.status, message, from: request, context: context)
            }
            return try refusal(of: request, form, context)
        }
    }

    private func refusal(of request: Request, _ form: ErrorForm, _ context: SimulatorContext) throws -> Response {
        func answer(_ status: HTTPResponse.Status, _ message: String) throws -> Response {
            try form.answer(status, message, from: request, context: context)
        }
        switch operations.refusal(of: request.method, request.uri.path) {
        case .unknownPath:
            return try answer(.notFound, form == .webAPI ? WebAPIError.serviceNotFound.message : "Not Found")
        case .notSimulated(let message):
            return try answer(.notImplemented, message)
        case .methodNotAllowed(let allowed):
            let error = HTTPError.methodNotAllowed(request.method, allowed: allowed)
            var response = try answer(error.status, error.body ?? "")
            response.headers[.allow] = error.headers[.allow]
            return response
        }
    }
}

/// The form of an error: the Web API's under `/v1/`, that of RFC 6749 §5.2 under `/api/`, otherwise plain text.
enum ErrorForm: Sendable {
    case webAPI, token, text

    init(path: String) {
        self = path == "/v1" || path.begins(with: "/v1/") ? .webAPI : path.begins(with: "/api/") ? .token : .text
    }

    /// - Parameter code: The code for programs: the reason of the Web API, the error of the token endpoint. Nil for the
    ///   code that usually accompanies the status.
    func answer(
        _ status: HTTPResponse.Status, _ message: String, code: String? = nil, from request: Request,
        context: some RequestContext
    ) throws -> Response {
        switch self {
        case .webAPI:
            let reason = code ?? (status == .tooManyRequests ? "QUOTA_EXCEEDED" : nil)
            return try WebAPIError(statusCode: status.code, message: message, reason: reason)
                .response(from: request, context: context)
        case .token:
            return try TokenError(status, message, code: code).response(from: request, context: context)
        case .text:
            return .text("\(message)\n", status: status)
        }
    }
}
