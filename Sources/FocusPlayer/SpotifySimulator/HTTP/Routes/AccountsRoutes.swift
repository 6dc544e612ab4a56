import HTTPTypes
import Hummingbird

/// accounts.spotify.com: consent and tokens.
struct AccountsRoutes: Sendable {
    let simulation: Simulation

    /// `GET /authorize`
    func showConsent(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let fields = try request.queryFields()
        return try await answering {
            try await simulation.update { state, _ in
                let request = try AuthorizationRequest(fields, clients: state.catalogue.clients)
                return ConsentPage(request: request, user: state.catalogue.user).response
            }
        }
    }

    /// `POST /authorize`: the consent form. It carries the whole request, which is checked again as if it were new.
    func decide(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let fields = try await request.formFields()
        return try await answering {
            try await simulation.update { state, now in
                let request = try AuthorizationRequest(fields, clients: state.catalogue.clients)
                guard fields["decision"] == ConsentPage.approval else {
                    return .redirect(to: request.redirect(("error", "access_denied")), type: .found)
                }
                let code = state.authorization.approve(request, at: now)
                return .redirect(to: request.redirect(("code", code.value)), type: .found)
            }
        }
    }

    /// `POST /api/token`
    func tokens(_ request: Request, _ context: SimulatorContext) async throws -> TokenResponse {
        guard request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true else {
            throw TokenError(.invalidRequest, "the body must be application/x-www-form-urlencoded")
        }
        let tokenRequest = try TokenRequest(try await request.formFields())
        return TokenResponse(try await simulation.update { state, now in try state.tokens(for: tokenRequest, at: now) })
    }

    /// A bad request is explained to the person at the browser; it is no business of the redirect URI.
    private func answering(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch let error as AuthorizationRequestError {
            return .text("\(error.rawValue)\n", status: .badRequest)
        }
    }
}
