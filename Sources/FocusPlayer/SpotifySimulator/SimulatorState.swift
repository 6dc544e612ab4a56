import Foundation

/// All that the simulator knows and remembers: a value, tested without HTTP.
struct SimulatorState: Sendable, Equatable {
    let catalogue: Catalogue
    let policy: TokenPolicy
    var authorization = AuthorizationState()
    var player: PlayerState
    private(set) var faults: [Fault] = []
    private(set) var requestCounts: [String: Int] = [:]

    init(catalogue: Catalogue, policy: TokenPolicy) {
        self.catalogue = catalogue
        self.policy = policy
        self.player = PlayerState(isPremium: catalogue.user.isPremium, devices: catalogue.devices)
    }

    /// Answers `/api/token`.
    mutating func tokens(for request: TokenRequest, at now: Date) throws(TokenError) -> IssuedTokens {
        guard catalogue.clients.contains(where: { $0.id == request.clientID }) else { throw .invalidClient }
        return try authorization.tokens(for: request, policy: policy, at: now)
    }

    /// Finds a playlist whose items the user may list.
    func listablePlaylist(_ id: String) throws(WebAPIError) -> Catalogue.Playlist {
        guard let playlist = catalogue.playlists.first(where: { $0.id == id }) else { throw .resourceNotFound }
        guard playlist.showsItems(to: catalogue.user) else { throw .forbidden }
        return playlist
    }

    /// Counts a request under its method and route.
    mutating func count(_ route: String) {
        requestCounts[route, default: 0] += 1
    }

    /// Orders a fault. Faults for the same path strike one after the other.
    mutating func order(_ fault: Fault) {
        faults.append(fault)
    }

    /// Uses up one strike of the first fault that is ordered for the path.
    mutating func nextFault(for path: String) -> Fault? {
        guard let index = faults.firstIndex(where: { $0.strikes(path) }) else { return nil }
        faults[index].remaining -= 1
        let fault = faults[index]
        if fault.remaining == 0 { faults.remove(at: index) }
        return fault
    }

    /// Calls off every fault.
    mutating func clearFaults() {
        faults = []
    }

    /// Everything as it was at the start. Tokens that clients hold are unknown from then on.
    mutating func reset() {
        self = SimulatorState(catalogue: catalogue, policy: policy)
    }
}

extension SimulatorState {
    /// Trouble that the control page has ordered for the next requests.
    struct Fault: Codable, Sendable, Equatable {
        /// A request path, or the beginning of one followed by `*`.
        let path: String
        /// The status to answer with; `nil` lets the request through after the delay.
        let status: Int?
        /// For the header of the same name, in seconds.
        let retryAfter: Int?
        /// How long to sit on the request first.
        let delayInMilliseconds: Int
        /// How many more requests it strikes.
        var remaining: Int

        /// Whether the fault strikes a request for the path. A trailing slash makes no difference, as in the routes.
        func strikes(_ requested: String) -> Bool {
            if path.hasSuffix("*") { return requested.hasPrefix(path.dropLast()) }
            return Self.normalized(path) == Self.normalized(requested)
        }

        private static func normalized(_ path: String) -> Substring {
            path.hasSuffix("/") ? path.dropLast() : Substring(path)
        }
    }
}
