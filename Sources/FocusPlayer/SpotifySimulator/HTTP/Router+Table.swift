import Hummingbird

extension Router<SimulatorContext> {
    /// The whole interface: what is served, and which scope it takes.
    static func simulator(_ simulation: Simulation) -> Router<SimulatorContext> {
        let router = Router(context: SimulatorContext.self).add(middleware: ErrorEnvelope())

        let control = ControlRoutes(simulation: simulation)
        router.group("_control")
            .get(use: control.page)
            .get("state", use: control.state)
            .post("reset", use: control.reset)
            .post("revoke", use: control.revoke)
            .post("premium", use: control.premium)
            .post("devices", use: control.devices)
            .post("faults", use: control.order)
            .delete("faults", use: control.clearFaults)

        let spotify = router.group()
            .add(middleware: RequestCounter(simulation: simulation))
            .add(middleware: FaultInjection(simulation: simulation))

        let accounts = AccountsRoutes(simulation: simulation)
        spotify
            .get("authorize", use: accounts.showConsent)
            .post("authorize", use: accounts.decide)
            .post("api/token", use: accounts.tokens)

        func v1(_ scope: Scope? = nil) -> RouterGroup<SimulatorContext> {
            spotify.group("v1").add(middleware: BearerAuthentication(simulation: simulation, scope: scope))
        }
        let catalogue = CatalogueRoutes(simulation: simulation)
        v1().get("me", use: catalogue.profile)
        v1(.playlistReadPrivate)
            .get("me/playlists", use: catalogue.playlists)
            .get("playlists/:id/items", use: catalogue.items)
            .get("playlists/:id/tracks", use: catalogue.tracks)

        let player = PlayerRoutes(simulation: simulation)
        v1(.userReadPlaybackState).get("me/player/devices", use: player.devices)
        v1(.userModifyPlaybackState)
            .put("me/player/play", use: player.play)
            .put("me/player", use: player.transfer)

        return router
    }
}
