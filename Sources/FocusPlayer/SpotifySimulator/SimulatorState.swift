import Foundation

/// The state of the simulator.
struct SimulatorState: Sendable, Equatable {
    /// An account with its player.
    struct Account: Sendable, Equatable {
        let catalogue: Catalogue.Account
        var player: PlayerState

        init(_ catalogue: Catalogue.Account) {
            self.catalogue = catalogue
            player = PlayerState(isPremium: catalogue.user.isPremium, devices: catalogue.devices)
        }
    }

    /// The answer to requests with the market of the token's account, `market=from_token`.
    enum TokenMarket: String, CaseIterable, Sendable {
        case accepted
        /// 400: it is not a market.
        case invalid
        /// 403, unless the token has the scope `user-read-private`, which shows the account's country.
        case scope
    }

    let catalogue: Catalogue
    let library: Library
    let policy: TokenPolicy
    var authorization = AuthorizationState()
    /// The accounts in the order of the catalogue. Their number and order do not change.
    var accounts: [Account]
    var tokenMarket = TokenMarket.accepted
    private(set) var faults: [Fault] = []
    private(set) var requestCounts: [String: Int] = [:]

    init(catalogue: Catalogue, policy: TokenPolicy) {
        self.catalogue = catalogue
        self.library = Library(catalogue)
        self.policy = policy
        self.accounts = catalogue.accounts.map(Account.init)
    }

    /// The index of the account with this user id. Nil if there is none.
    /// - Parameter userID: Nil for the first account.
    func indexOfAccount(_ userID: String?) -> Int? {
        accounts.firstIndex { userID == nil || $0.catalogue.user.id == userID }
    }

    /// Answers a request to `/api/token`.
    mutating func tokens(for request: TokenRequest, at now: Date) throws(TokenError) -> IssuedTokens {
        guard catalogue.clients.contains(where: { $0.id == request.clientID }) else { throw .invalidClient }
        return try authorization.tokens(for: request, policy: policy, at: now)
    }

    /// Returns the playlist with this id: the one of the account's list, or else that of another account.
    ///
    /// - Throws: `WebAPIError` if there is no such playlist, or if the account's user may not list its items.
    func listablePlaylist(_ id: String, account: Catalogue.Account) throws(WebAPIError) -> Catalogue.Playlist {
        let playlist = try playlist(id, account: account)
        guard playlist.showsItems(to: account.user) else { throw .forbidden }
        return playlist
    }

    /// The playlist with an id, of any account.
    /// - Throws: An error with the status 404 if there is none.
    func playlist(_ id: String, account: Catalogue.Account) throws(WebAPIError) -> Catalogue.Playlist {
        let all = ([account] + catalogue.accounts).lazy.flatMap(\.playlists)
        guard let playlist = all.first(where: { $0.id == id }) else { throw .resourceNotFound }
        return playlist
    }

    /// Counts a request by its method and route.
    mutating func count(_ route: String) {
        requestCounts[route, default: 0] += 1
    }

    /// Adds a fault. Faults for the same path apply one after the other.
    mutating func order(_ fault: Fault) {
        faults.append(fault)
    }

    /// Returns the first fault for the path, and counts the request against it; `nil` if there is none.
    mutating func nextFault(for path: String) -> Fault? {
        guard let index = faults.firstIndex(where: { $0.strikes(path) }) else { return nil }
        faults[index].remaining -= 1
        let fault = faults[index]
        if fault.remaining == 0 { faults.remove(at: index) }
        return fault
    }

    /// Removes all faults.
    mutating func clearFaults() {
        faults = []
    }

    /// Restores the initial state. The tokens of clients become unknown.
    mutating func reset() {
        self = SimulatorState(catalogue: catalogue, policy: policy)
    }
}
