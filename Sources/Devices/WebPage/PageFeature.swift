package import EventBus
package import Hummingbird
package import Logging
package import Support

/// A part of the page, such as its devices: the kinds of its views, its routes, and the work that they need.
package protocol PageFeature: Sendable {
    /// The kinds of its views, as a page names them in the requests that open views.
    var kinds: [String] { get }

    /// Opens a view of one of its ``kinds`` with ``Hub/open(_:as:)``.
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
}

/// The groups of routes to which a feature adds its own.
package struct PageRoutes {
    /// Routes below `/api`, for browsers that have signed in.
    package let api: RouterGroup<GatewayContext>
    /// The same, unless the gateway is read-only.
    package let publishing: RouterGroup<GatewayContext>
    /// Routes for programs, which have a token instead of a browser's cookie.
    package let programs: RouterGroup<GatewayContext>
}
