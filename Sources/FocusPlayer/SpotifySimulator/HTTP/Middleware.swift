import HTTPTypes
import Hummingbird
import Logging

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

/// Applies the faults that were ordered at the control routes.
struct FaultInjection: RouterMiddleware {
    let simulation: Simulation

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        guard let fault = try await simulation.update({ state, _ in state.nextFault(for: path) }) else {
            return try await next(request, context)
        }
        if fault.delayInMilliseconds > 0 {
            try await Task.sleep(for: .milliseconds(fault.delayInMilliseconds))
        }
        guard let status = fault.status else { return try await next(request, context) }
        throw WebAPIError(
            statusCode: status,
            message: status == 429 ? "API rate limit exceeded" : "Service unavailable",
            reason: status == 429 ? "QUOTA_EXCEEDED" : nil,
            retryAfter: fault.retryAfter
        )
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

/// Converts errors of the framework, for example an unknown route or a malformed form. Errors under `/v1/` and bad
/// requests under `/api/` get the form of Spotify's errors; all others become plain text.
struct ErrorEnvelope: RouterMiddleware {
    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            let message = error.body ?? error.status.reasonPhrase
            if request.uri.path.hasPrefix("/v1/") {
                if error.status == .notFound { throw WebAPIError.serviceNotFound }
                throw WebAPIError(statusCode: error.status.code, message: message)
            }
            if request.uri.path.hasPrefix("/api/"), error.status == .badRequest {
                throw TokenError(.invalidRequest, message)
            }
            return .text("\(message)\n", status: error.status)
        }
    }
}
