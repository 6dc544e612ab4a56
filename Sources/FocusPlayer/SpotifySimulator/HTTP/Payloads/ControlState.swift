import Hummingbird

/// What `GET /_control/state` answers. Tokens appear as counts only.
struct ControlState: ResponseEncodable, Sendable {
    let premium: Bool
    let devices: [Device]
    /// `nil` when nothing plays and nothing is paused.
    let playback: Playback?
    let tokens: Tokens
    /// By method and route, such as `GET /v1/playlists/{id}/items`.
    let requests: [String: Int]
    let faults: [Fault]

    struct Tokens: Encodable, Sendable {
        /// Approvals by the user.
        let grants: Int
        /// Access tokens issued, by code or by refresh.
        let issued: Int
        /// Refreshes that succeeded.
        let refreshes: Int
    }

    init(_ state: SimulatorState) {
        premium = state.player.isPremium
        devices = state.player.devices
        playback = state.player.playback
        tokens = Tokens(
            grants: state.authorization.grants.count,
            issued: state.authorization.issuedCount,
            refreshes: state.authorization.refreshCount
        )
        requests = state.requestCounts
        faults = state.faults
    }
}
