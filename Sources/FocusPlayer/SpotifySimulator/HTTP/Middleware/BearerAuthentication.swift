import HTTPTypes
import Hummingbird

/// Admits requests whose access token is good and has the scope.
struct BearerAuthentication: RouterMiddleware {
    let simulation: Simulation
    /// `nil` when any token will do.
    let scope: Scope?

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let header = request.headers[.authorization]
        var context = context
        context.scopes = try await simulation.update { state, now in
            try state.authorization.scopes(authorization: header, at: now)
        }
        if let scope, !context.scopes.contains(scope) { throw WebAPIError.insufficientScope }
        return try await next(request, context)
    }
}
