import Foundation
import HTTPTypes
import Hummingbird

extension Router<SimulatorContext> {
    /// Creates the router with all routes and the scopes that they need.
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

/// The data of a request: Hummingbird's data, and the account and the scopes of the access token.
struct SimulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The index of the access token's account. `BearerAuthentication` sets it.
    var account = 0
    /// The scopes of the request's access token. `BearerAuthentication` sets them.
    var scopes: Set<Scope> = []

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    var responseEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Request {
    /// The query, decoded as a form: `+` is a space.
    ///
    /// - Throws: `HTTPError` 400 if a parameter occurs twice or cannot be decoded.
    func queryFields() throws -> [String: String] {
        try Self.fields(uri.query ?? "")
    }

    /// The body, decoded as a form.
    ///
    /// - Throws: `HTTPError` 400 if a parameter occurs twice or cannot be decoded. If the body is longer than 64 KiB,
    ///   another error, which is answered with the status 413.
    func formFields() async throws -> [String: String] {
        let body = try await body.collect(upTo: 64 * 1024)
        return try Self.fields(String(buffer: body))
    }

    private static func fields(_ text: String) throws -> [String: String] {
        do {
            return try URLEncodedFormDecoder().decode([String: String].self, from: text)
        } catch {
            throw HTTPError(.badRequest, message: "Malformed form")
        }
    }
}

extension Response {
    /// An answer in plain text, for people.
    static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
