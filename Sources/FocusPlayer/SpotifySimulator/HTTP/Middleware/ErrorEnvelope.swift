import Hummingbird

/// Gives refusals that come from the framework (no such route, a malformed form) the shape of Spotify's own.
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
