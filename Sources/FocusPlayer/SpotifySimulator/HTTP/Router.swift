import Foundation
import HTTPOperations
import HTTPTypes
import Hummingbird

/// Answers requests with the routes. The answer to HEAD is the answer to GET without the body.
struct SimulatorResponder: HTTPResponder {
    private let router: RouterResponder<SimulatorContext>

    init(_ simulation: Simulation) {
        let routes = Route.all(simulation)
        let router = Router(context: SimulatorContext.self, options: .autoGenerateHeadEndpoints)
        let envelope = ErrorEnvelope(operations: OperationTable(routes.map(\.operation)))
        router.add(middleware: envelope)
        for route in routes { route.add(to: router, simulation, envelope) }
        self.router = router.buildResponder()
    }

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let response = try await router.respond(to: request, context: context)
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// A route of the simulator: the operation, the condition for its use, and the function that answers.
private struct Route: Sendable {
    enum Access: Sendable {
        /// Everyone. These routes have no faults, and are not counted.
        case control
        /// Everyone.
        case accounts
        /// Clients whose access token has the scope. Nil if every valid token is admitted.
        case webAPI(Scope?)
    }

    let operation: HTTPOperation
    private let access: Access
    private let handler: @Sendable (Request, SimulatorContext) async throws -> Response

    private init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access,
        _ handler: @escaping @Sendable (Request, SimulatorContext) async throws -> some ResponseGenerator
    ) {
        operation = HTTPOperation(method, path)
        self.access = access
        self.handler = { request, context in
            try await handler(request, context).response(from: request, context: context)
        }
    }

    static func all(_ simulation: Simulation) -> [Route] {
        let control = ControlRoutes(simulation: simulation)
        let accounts = AccountsRoutes(simulation: simulation)
        let catalogue = CatalogueRoutes(simulation: simulation)
        let player = PlayerRoutes(simulation: simulation)
        return [
            Route(.get, "/_control", .control, control.page),
            Route(.get, "/_control/state", .control, control.state),
            Route(.post, "/_control/reset", .control, control.reset),
            Route(.post, "/_control/revoke", .control, control.revoke),
            Route(.post, "/_control/premium", .control, control.premium),
            Route(.post, "/_control/market", .control, control.market),
            Route(.post, "/_control/devices", .control, control.devices),
            Route(.post, "/_control/player", .control, control.player),
            Route(.post, "/_control/faults", .control, control.order),
            Route(.delete, "/_control/faults", .control, control.clearFaults),

            Route(.get, "/authorize", .accounts, accounts.showConsent),
            Route(.post, "/authorize", .accounts, accounts.decide),
            Route(.post, "/api/token", .accounts, accounts.tokens),

            Route(.get, "/v1/me", .webAPI(nil), catalogue.profile),
            Route(.get, "/v1/me/playlists", .webAPI(.playlistReadPrivate), catalogue.playlists),
            Route(.get, "/v1/playlists/{id}", .webAPI(.playlistReadPrivate), catalogue.playlist),
            Route(.get, "/v1/playlists/{id}/items", .webAPI(.playlistReadPrivate), catalogue.items),
            Route(.get, "/v1/playlists/{id}/tracks", .webAPI(.playlistReadPrivate), catalogue.tracks),

            Route(.get, "/v1/me/player", .webAPI(.userReadPlaybackState), player.state),
            Route(.put, "/v1/me/player", .webAPI(.userModifyPlaybackState), player.transfer),
            Route(.get, "/v1/me/player/devices", .webAPI(.userReadPlaybackState), player.devices),
            Route(
                .get, "/v1/me/player/currently-playing", .webAPI(.userReadCurrentlyPlaying), player.currentlyPlaying),
            Route(.put, "/v1/me/player/play", .webAPI(.userModifyPlaybackState), player.play),
            Route(.put, "/v1/me/player/pause", .webAPI(.userModifyPlaybackState), player.pause),
            Route(.post, "/v1/me/player/next", .webAPI(.userModifyPlaybackState), player.next),
            Route(.post, "/v1/me/player/previous", .webAPI(.userModifyPlaybackState), player.previous),
            Route(.put, "/v1/me/player/seek", .webAPI(.userModifyPlaybackState), player.seek),
            Route(.put, "/v1/me/player/volume", .webAPI(.userModifyPlaybackState), player.volume),
        ]
    }

    func add(to router: Router<SimulatorContext>, _ simulation: Simulation, _ envelope: ErrorEnvelope) {
        let group = router.group()
        switch access {
        case .control: break
        case .accounts, .webAPI:
            group.add(middleware: RequestCounter(simulation: simulation))
            group.add(middleware: FaultInjection(simulation: simulation))
            // Faults change answers, so errors must be answers already.
            group.add(middleware: envelope)
        }
        if case .webAPI(let scope) = access {
            group.add(middleware: BearerAuthentication(simulation: simulation, scope: scope))
            group.add(middleware: TokenMarketCheck(simulation: simulation))
        }
        group.on(RouterPath(operation.path), method: operation.method, use: handler)
    }
}

/// The data of a request: Hummingbird's data, and the account and the scopes of the access token.
struct SimulatorContext: ConnectionContext {
    var coreContext: CoreRequestContextStorage
    let connection: HTTPConnection
    /// The index of the access token's account. `BearerAuthentication` sets it.
    var account = 0
    /// The scopes of the request's access token. `BearerAuthentication` sets them.
    var scopes: Set<Scope> = []

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = HTTPConnection(source: source)
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
