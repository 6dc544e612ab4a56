import Hummingbird

/// `/_control`: what the user, the subscription department and the network would do to a real Spotify.
///
/// `ControlPage` documents every route and field. These routes are outside faults and counts.
struct ControlRoutes: Sendable {
    let simulation: Simulation

    /// `GET /_control`
    func page(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        .text(ControlPage.text)
    }

    /// `GET /_control/state`
    func state(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { _ in }
    }

    /// `POST /_control/reset`
    func reset(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { $0.reset() }
    }

    /// `POST /_control/revoke`
    func revoke(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let revocation = try fields.choice("tokens", AuthorizationState.Revocation.self)
        return try await changing { $0.authorization.revoke(revocation) }
    }

    /// `POST /_control/premium`
    func premium(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let premium = try fields.choice("premium", Switch.self)
        return try await changing { $0.player.isPremium = premium == .on }
    }

    /// `POST /_control/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let action = try fields.choice("action", DeviceAction.self)
        let id = action == .activate ? try fields.required("id") : ""
        return try await changing { state in
            switch action {
            case .activate:
                guard state.player.activate(id) else {
                    throw HTTPError(.badRequest, message: "there is no device '\(id)'")
                }
            case .deactivate: state.player.deactivateAll()
            case .none: state.player.replaceDevices(with: [])
            case .all: state.player.replaceDevices(with: state.catalogue.devices)
            }
        }
    }

    /// `POST /_control/faults`
    func order(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fault = try await ControlFields(request).fault()
        return try await changing { $0.order(fault) }
    }

    /// `DELETE /_control/faults`
    func clearFaults(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { $0.clearFaults() }
    }

    private func changing(
        _ change: @escaping @Sendable (inout SimulatorState) throws -> Void
    ) async throws -> ControlState {
        try await simulation.update { state, _ in
            try change(&state)
            return ControlState(state)
        }
    }

    private enum Switch: String, CaseIterable { case on, off }
    private enum DeviceAction: String, CaseIterable { case activate, deactivate, none, all }
}
