import Foundation
import HTTPTypes
import Hummingbird
import Support

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
        try await changing(account: try request.queryFields()["account"]) { _, _, _ in }
    }

    /// `POST /_control/reset`
    func reset(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { state, _, _ in state.reset() }
    }

    /// `POST /_control/revoke`
    func revoke(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let revocation = try fields.choice("tokens", AuthorizationState.Revocation.self)
        let account = fields["account"]
        return try await changing(account: account) { state, chosen, _ in
            let known = state
            state.authorization.revoke(revocation) { account == nil || known.indexOfAccount($0) == chosen }
        }
    }

    /// `POST /_control/premium`
    func premium(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let premium = try fields.choice("premium", Switch.self)
        return try await changing(account: fields["account"]) { state, account, _ in
            state.accounts[account].player.isPremium = premium == .on
        }
    }

    /// `POST /_control/market`
    func market(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let market = try await ControlFields(request).choice(Library.tokenMarket, SimulatorState.TokenMarket.self)
        return try await changing { state, _, _ in state.tokenMarket = market }
    }

    /// `POST /_control/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let action = try fields.choice("action", DeviceAction.self)
        let id = action == .activate ? try fields.required("id") : ""
        return try await changing(account: fields["account"]) { state, index, _ in
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

    /// `POST /_control/player`
    func player(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fields = try await ControlFields(request)
        let change = try fields.playerChange()
        return try await changing(account: fields["account"]) { state, index, now in
            var player = state.accounts[index].player
            switch change {
            case .action(let action): try player.change(action, at: now)
            case .start(let context):
                guard let selection = try state.library.selection(for: PlayCommand(context: context)) else { return }
                try player.start(selection, at: now)
            case .repeating(let mode): player.setRepeatMode(mode, at: now)
            case .shuffling(let isShuffled): player.isShuffled = isShuffled
            }
            state.accounts[index].player = player
        }
    }

    /// `POST /_control/faults`
    func order(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        let fault = try await ControlFields(request).fault()
        return try await changing { state, _, _ in state.order(fault) }
    }

    /// `DELETE /_control/faults`
    func clearFaults(_ request: Request, _ context: SimulatorContext) async throws -> ControlState {
        try await changing { state, _, _ in state.clearFaults() }
    }

    /// - Parameters:
    ///   - account: The user id of the account that is shown and changed. Nil for the first account.
    ///   - change: Receives the state, the index of the account and the current time.
    private func changing(
        account: String? = nil, _ change: @escaping @Sendable (inout SimulatorState, Int, Date) throws -> Void
    ) async throws -> ControlState {
        try await simulation.update { state, now in
            guard let index = state.indexOfAccount(account) else {
                let known = state.catalogue.accounts.map(\.user.id).joined(separator: ", ")
                throw HTTPError(.badRequest, message: "there is no account '\(account ?? "")'; use one of \(known)")
            }
            try change(&state, index, now)
            return ControlState(state, account: index, at: now)
        }
    }

    private enum DeviceAction: String, CaseIterable { case activate, deactivate, none, all }
}

private enum Switch: String, CaseIterable { case on, off }

/// A change of the playback by another client.
private enum PlayerChange: Sendable {
    case action(PlayerState.Action)
    /// Plays the playlist, album or artist with this URI.
    case start(String)
    case repeating(PlayerState.RepeatMode)
    case shuffling(Bool)
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

    func fault() throws -> Fault {
        let status = try number("status", in: 400...599)
        let fault = Fault(
            path: try required("path"),
            status: status,
            error: fields["error"],
            retryAfter: try retryAfter(status: status),
            delayInMilliseconds: try number("delay_ms", in: 0...60_000) ?? 0,
            body: fields["body"] == nil ? nil : try choice("body", Fault.Damage.self),
            bodyInMilliseconds: try number("body_ms", in: 0...600_000) ?? 10_000,
            remaining: try number("count", in: 1...1_000_000) ?? 1
        )
        guard fault.path.begins(with: "/") else { throw refusal("'path' must begin with /") }
        guard fault.status != nil || fault.delayInMilliseconds > 0 || fault.body != nil else {
            throw refusal("give 'status', 'delay_ms', 'body' or several of them")
        }
        return fault
    }

    /// By default, an answer with the status 429 has the header, as at Spotify.
    private func retryAfter(status: Int?) throws -> String? {
        guard let value = fields["retry_after"] else { return status == 429 ? "1" : nil }
        guard HTTPField.isValidValue(value) else { throw refusal("'retry_after' cannot be sent in a header") }
        return value == "none" ? nil : value
    }

    func playerChange() throws -> PlayerChange {
        switch try choice("action", PlayerAction.self) {
        case .play: return fields["context"].map { .start($0) } ?? .action(.resume)
        case .pause: return .action(.pause)
        case .next: return .action(.next)
        case .previous: return .action(.previous)
        case .seek: return .action(.seek(try requiredNumber("position_ms", in: 0...86_400_000)))
        case .volume: return .action(.volume(try requiredNumber("volume_percent", in: 0...100)))
        case .repeat: return .repeating(try choice("state", PlayerState.RepeatMode.self))
        case .shuffle: return .shuffling(try choice("state", Switch.self) == .on)
        }
    }

    private enum PlayerAction: String, CaseIterable {
        case play, pause, next, previous, seek, volume, `repeat`, shuffle
    }

    private func requiredNumber(_ name: String, in range: ClosedRange<Int>) throws -> Int {
        _ = try required(name)
        return try number(name, in: range) ?? range.lowerBound
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
    let devices: [Catalogue.Speaker]
    /// `nil` if nothing plays and nothing is paused.
    let playback: PlaybackView?
    let tokens: Tokens
    /// The number of requests by method and route, for example `GET /v1/playlists/{id}/items`.
    let requests: [String: Int]
    let faults: [Fault]

    struct PlaybackView: Encodable, Sendable {
        let deviceID: String
        let isPlaying: Bool
        /// The URI of the playlist, album or artist. `nil` if tracks were requested.
        let context: String?
        /// The URIs of the requested tracks. Empty if a context was requested.
        let tracks: [String]
        /// The URI of the current track.
        let track: String
        let positionInMilliseconds: Int
    }

    struct Tokens: Encodable, Sendable {
        /// The number of approvals for which a client has received tokens, of all accounts.
        let grants: Int
        /// The number of access tokens that were issued, in exchange for codes and refresh tokens.
        let issued: Int
        /// The number of successful refreshes.
        let refreshes: Int
    }

    init(_ state: SimulatorState, account index: Int, at now: Date) {
        let player = state.accounts[index].player.advanced(to: now)
        account = state.accounts[index].catalogue.user.id
        premium = player.isPremium
        devices = player.devices
        playback = player.playback.map { playback in
            PlaybackView(
                deviceID: playback.deviceID, isPlaying: playback.isPlaying, context: playback.selection.context,
                tracks: playback.selection.context == nil ? playback.selection.tracks.map(\.uri) : [],
                track: playback.track.uri, positionInMilliseconds: playback.positionInMilliseconds)
        }
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

        POST /_control/market    from_token=accepted     the market of the token's account is accepted
                                 from_token=invalid      requests with market=from_token answer 400
                                 from_token=scope        they answer 403 without the scope user-read-private

        POST /_control/devices   action=activate&id=ID   make a device the active one
                                 action=deactivate       no device is active: 404 NO_ACTIVE_DEVICE
                                 action=none             no device is listed
                                 action=all              list the devices of the catalogue, as at the start

        POST /_control/player    action=play, pause, next, previous    as if done in a Spotify app on the active device,
                                                               also without Premium; play with context=URI plays a
                                                               playlist, album or artist, without it continues
                                 action=seek&position_ms=MS            go to a position of the song
                                 action=volume&volume_percent=PERCENT  set the volume of the active device
                                 action=repeat&state=off               repeat nothing; or context, or track
                                 action=shuffle&state=on               shown to clients; the order remains

        POST /_control/faults    path=/v1/me/playlists   path of the requests; a final * matches any ending
                                 status=429              status of the answer, 400 to 599; without it, the request is
                                                         handled, and its answer delayed or damaged
                                 error=CODE              reason (Web API) or error (/api/token) in the answer
                                 retry_after=2           Retry-After header, any text; none for no header (default: 1
                                                         with 429, else none)
                                 delay_ms=500            delay before the answer, at most 60000 (default: 0)
                                 body=slow               the body takes body_ms milliseconds (default: 10000)
                                 body=truncated          the connection is closed after half of the body
                                 body=not-json           the body is HTML
                                 body=empty              the body is empty
                                 count=1                 number of requests (default: 1)
        DELETE /_control/faults  remove all faults

        Where an account is shown or changed, account=ID names its user; without it, it is the catalogue's first
        account. GET /_control/state has it in the query. Without account, revoke revokes the tokens of all accounts.

        Parameters are form fields. A POST or DELETE that succeeds answers like GET /_control/state. For example:

            curl -d tokens=access http://127.0.0.1:PORT/_control/revoke
            curl -d 'path=/v1/*&status=429&retry_after=2&count=3' http://127.0.0.1:PORT/_control/faults

        """
}
