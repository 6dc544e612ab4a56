package import EventBus
package import Hummingbird
package import Logging
internal import SignIn
package import Support

/// A part of the page, such as its devices: the kinds of its views, its routes, and the work that they need.
package protocol PageFeature: Sendable {
    /// The kinds of its views, as a page names them in the requests that open views, and the browsers that may open them.
    var kinds: [String: PageAudience] { get }

    /// Opens a view of one of its ``kinds`` with ``Hub/open(_:as:)``. A view for everybody shows only ``ViewRequest/session()``.
    /// - Throws: ``RequestError`` if the view cannot be opened.
    func open(_ view: ViewRequest) async throws

    /// Adds its routes.
    func addRoutes(to routes: PageRoutes)

    /// Its members of the first event of a stream.
    func greeting() async -> [String: JSONValue]

    /// Works until the task is cancelled.
    /// - Parameter ready: Opened when the feature is ready.
    /// - Throws: The error that ends the gateway.
    func run(_ ready: Latch) async throws
}

extension PageFeature {
    package func greeting() async -> [String: JSONValue] { [:] }
}

/// The browsers that may use something.
package enum PageAudience: Sendable {
    case operators
    /// Also browsers that have signed in to one session.
    case everybody
}

/// The parts of a gateway that its features use.
package struct PageEnvironment: Sendable {
    package let hub: Hub
    package let bus: EventBus
    /// The version of the gateway.
    package let version: String
    package let logger: Logger
    package let clock: any Clock<Duration>

    package init(hub: Hub, bus: EventBus, version: String, logger: Logger, clock: any Clock<Duration>) {
        self.hub = hub
        self.bus = bus
        self.version = version
        self.logger = logger
        self.clock = clock
    }
}

/// A view that a page asks for.
package struct ViewRequest: Sendable {
    package let name: ViewName
    package let kind: String
    /// The other members of the request.
    private let json: JSONValue

    package init(name: ViewName, kind: String, json: JSONValue) {
        self.name = name
        self.kind = kind
        self.json = json
    }

    package subscript(member: String) -> JSONValue? { json[member] }

    /// The session that the page names, or else the browser's own, or else the default one.
    /// - Throws: ``RequestError`` if the browser may not use the session.
    package func session() throws(RequestError) -> String {
        let own = name.stream.access.session
        let session = json["session"]?.stringValue ?? own ?? Session.default
        guard !session.isEmpty, session.utf8.count <= 255 else { throw .malformed("'session' has 1 to 255 bytes") }
        // Swift compares strings by canonical equivalence, the bus by bytes.
        if let own, !own.utf8.elementsEqual(session.utf8) { throw .notOperator(own) }
        return session
    }
}

/// The groups of routes to which a feature adds its own. Each group says which browsers may use its routes.
package struct PageRoutes {
    /// Routes below `/api`, for operators.
    package let operators: RouterGroup<GatewayContext>
    /// The same, unless the gateway is read-only.
    package let publishing: RouterGroup<GatewayContext>
    /// Routes below `/api` for all browsers that have signed in. Their answers contain only what
    /// ``GatewayContext/signedIn()`` allows.
    package let everybody: RouterGroup<GatewayContext>
    /// Routes for programs, which have a token instead of a browser's cookie.
    package let programs: RouterGroup<GatewayContext>
}
