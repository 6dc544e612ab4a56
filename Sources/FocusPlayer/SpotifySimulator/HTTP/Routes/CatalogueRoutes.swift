import Hummingbird

/// The Web API's reading side: who the user is, and the playlists.
struct CatalogueRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me`
    func profile(_ request: Request, _ context: SimulatorContext) async throws -> ProfilePayload {
        let base = APIBase(request)
        let scopes = context.scopes
        return try await simulation.update { state, _ in
            ProfilePayload(state.catalogue.user, isPremium: state.player.isPremium, scopes: scopes, base: base)
        }
    }

    /// `GET /v1/me/playlists`
    func playlists(_ request: Request, _ context: SimulatorContext) async throws -> Page<PlaylistPayload> {
        let base = APIBase(request)
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let user = state.catalogue.user
            return Page(of: state.catalogue.playlists, range: range, url: base.url("me/playlists")) { playlist in
                let owner = UserPayload(playlist.owner, account: user, base: base)
                return PlaylistPayload(playlist, owner: owner, base: base)
            }
        }
    }

    /// `GET /v1/playlists/{id}/items`
    func items(_ request: Request, _ context: SimulatorContext) async throws -> Page<PlaylistItemPayload> {
        let base = APIBase(request)
        let id = try context.parameters.require("id")
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let playlist = try state.listablePlaylist(id)
            let owner = UserPayload(playlist.owner, account: state.catalogue.user, base: base)
            return Page(of: playlist.songs, range: range, url: base.url("playlists/\(id)/items")) {
                PlaylistItemPayload(addedBy: owner, item: TrackPayload($0, base: base))
            }
        }
    }

    /// `GET /v1/playlists/{id}/tracks`: the deprecated name of `items`, closed to new applications.
    func tracks(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        throw WebAPIError.forbidden
    }
}

extension Page: ResponseGenerator, ResponseEncodable {}
