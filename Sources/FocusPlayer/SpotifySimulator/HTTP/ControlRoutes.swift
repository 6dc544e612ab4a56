import Hummingbird

/// The routes of `/_control`. They show and change an account and its devices, revoke tokens, and cause failures.
///
/// `ControlPage` documents the routes and their fields. These routes have no faults and are not counted.
struct ControlRoutes: Sendable {
    let simulation: Simulation

    /// `GET /_control`
    func page(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        .text(ControlPage.text)
    }

    /// `GET /_control/state`
    func state(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing(account: try request.queryFields()["account"]) { _, _ in }
    }

    /// `POST /_control/reset`
    func reset(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { state, _ in state.reset() }
    }

    /// `POST /_control/revoke`
    func revoke(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let revocation = try fields.choice("tokens", AuthorizationState.Revocation.self)
        let account = fields["account"]
        return try await changing(account: account) { state, chosen in
            let known = state
            state.authorization.revoke(revocation) { account == nil || known.indexOfAccount($0) == chosen }
        }
    }

    /// `POST /_control/premium`
    func premium(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let premium = try fields.choice("premium", Switch.self)
        return try await changing(account: fields["account"]) { state, account in
            state.accounts[account].player.isPremium = premium == .on
        }
    }

    /// `POST /_control/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let action = try fields.choice("action", DeviceAction.self)
        let id = action == .activate ? try fields.required("id") : ""
        return try await changing(account: fields["account"]) { state, index in
            var account = state.accounts[index]
            switch action {
            case .activate:
                guard account.player.activate(id) else {
                    throw HTTPError(.badRequest, message: "there is no device '\(id)'")
                }
            case .deactivate: account.player.deactivateAll()
            case .none: account.player.replaceDevices(with: [])
            case .all: account.player.replaceDevices(with: account.catalogue.devices)
            }
            state.accounts[index] = account
        }
    }

    /// `POST /_control/faults`
    func order(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fault = try await ControlFields(request).fault()
        return try await changing { state, _ in state.order(fault) }
    }

    /// `DELETE /_control/faults`
    func clearFaults(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { state, _ in state.clearFaults() }
    }

    /// - Parameters:
    ///   - account: The user id of the account that is shown and changed. Nil for the first account.
    ///   - change: Receives the state and the index of the account.
    private func changing(
        account: String? = nil, _ change: @escaping @Sendable (inout SimulatorState, Int) throws -> Void
    ) async throws -> ControlState {
        try await simulation.update { state, _ in
            guard let index = state.indexOfAccount(account) else {
                let known = state.catalogue.accounts.map(\.user.id).joined(separator: ", ")
                throw HTTPError(.badRequest, message: "there is no account '\(account ?? "")'; use one of \(known)")
            }
            try change(&state, index)
            return ControlState(state, account: index)
        }
    }

    private enum Switch: String, CaseIterable { case on, off }
    private enum DeviceAction: String, CaseIterable { case activate, deactivate, none, all }
}

/// The form fields of a control request. An error is one line of plain text.
private struct ControlFields {
    private let fields: [String: String]

    init(_ request: Request) async throws {
        fields = try await request.formFields()
    }

    subscript(name: String) -> String? { fields[name] }

    func required(_ name: String) throws -> String {
        guard let value = fields[name], !value.isEmpty else { throw refusal("'\(name)' is missing") }
        return value
    }

    func choice<Choice>(_ name: String, _ type: Choice.Type) throws -> Choice
    where Choice: CaseIterable & RawRepresentable<String> {
        guard let choice = Choice(rawValue: try required(name)) else {
            throw refusal("'\(name)' must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = fields[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw refusal("'\(name)' must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func fault() throws -> SimulatorState.Fault {
        let status = try number("status", in: 400...599)
        let fault = SimulatorState.Fault(
            path: try required("path"),
            status: status,
            // By default, an answer with the status 429 has a Retry-After header, as at Spotify.
            retryAfter: try number("retry_after", in: 0...3_600) ?? (status == 429 ? 1 : nil),
            delayInMilliseconds: try number("delay_ms", in: 0...60_000) ?? 0,
            remaining: try number("count", in: 1...1_000_000) ?? 1
        )
        guard fault.path.hasPrefix("/") else { throw refusal("'path' must begin with /") }
        guard fault.status != nil || fault.delayInMilliseconds > 0 else {
            throw refusal("give 'status', 'delay_ms' or both")
        }
        return fault
    }

    private func refusal(_ problem: String) -> HTTPError {
        HTTPError(.badRequest, message: "\(problem); see GET /_control")
    }
}

/// The answer to `GET /_control/state` and to control requests that change the state. It contains no tokens.
struct ControlState: ResponseEncodable, Sendable {
    /// The user id of the account that is shown.
    let account: String
    let premium: Bool
    let devices: [Catalogue.Device]
    /// `nil` if nothing plays and nothing is paused.
    let playback: Playback?
    let tokens: Tokens
    /// The number of requests by method and route, for example `GET /v1/playlists/{id}/items`.
    let requests: [String: Int]
    let faults: [SimulatorState.Fault]

    struct Tokens: Encodable, Sendable {
        /// The number of approvals for which a client has received tokens, of all accounts.
        let grants: Int
        /// The number of access tokens that were issued, in exchange for codes and refresh tokens.
        let issued: Int
        /// The number of successful refreshes.
        let refreshes: Int
    }

    init(_ state: SimulatorState, account index: Int) {
        let player = state.accounts[index].player
        account = state.accounts[index].catalogue.user.id
        premium = player.isPremium
        devices = player.devices
        playback = player.playback
        tokens = Tokens(
            grants: state.authorization.grantCount,
            issued: state.authorization.issuedCount,
            refreshes: state.authorization.refreshCount
        )
        requests = state.requestCounts
        faults = state.faults
    }
}

/// The answer to `GET /_control`: the control routes, with `curl` examples.
private enum ControlPage {
    static let text = """
        Spotify simulator: control

        GET  /_control/state     show the state as JSON, without tokens
        POST /_control/reset     restore the initial state; the tokens of clients become unknown

        POST /_control/revoke    tokens=access   revoke access tokens: clients must refresh
                                 tokens=all      revoke refresh tokens, too: clients must ask the user again

        POST /_control/premium   premium=on      player commands are accepted
                                 premium=off     player commands answer 403 PREMIUM_REQUIRED

        POST /_control/devices   action=activate&id=ID   make a device the active one
                                 action=deactivate       no device is active: 404 NO_ACTIVE_DEVICE
                                 action=none             no device is listed
                                 action=all              list the devices of the catalogue, as at the start

        POST /_control/faults    path=/v1/me/playlists   path of the requests; a final * matches any ending
                                 status=429              status of the answer, 400 to 599 (optional with delay_ms)
                                 retry_after=2           Retry-After header in seconds, 0 to 3600 (default: 1 with
                                                         429, else none)
                                 delay_ms=500            delay before the answer, at most 60000 (default: 0)
                                 count=1                 number of requests (default: 1)
        DELETE /_control/faults  remove all faults

        Where an account is shown or changed, account=ID names its user; without it, it is the catalogue's first account.
        GET /_control/state has it in the query. Without account, revoke revokes the tokens of all accounts.

        Parameters are form fields. A POST or DELETE that succeeds answers like GET /_control/state. For example:

            curl -d tokens=access http://127.0.0.1:PORT/_control/revoke
            curl -d 'path=/v1/*&status=429&retry_after=2&count=3' http://127.0.0.1:PORT/_control/faults

        """
}
