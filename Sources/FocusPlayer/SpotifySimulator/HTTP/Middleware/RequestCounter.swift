import Hummingbird
import Logging

/// Counts requests by route, so that a test can say “refreshed once”.
struct RequestCounter: RouterMiddleware {
    let simulation: Simulation

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let route = "\(request.method.rawValue) \(context.endpointPath ?? "unrouted")"
        try await simulation.update { state, _ in state.count(route) }
        // The route, never the URI or the headers: those carry codes and tokens.
        context.logger.debug("request", metadata: ["http.route": "\(route)"])
        return try await next(request, context)
    }
}
