import Hummingbird

/// Makes the trouble that the control page has ordered.
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
