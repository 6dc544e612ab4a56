internal import Contracts
public import EventBus
internal import Navigation

/// Navigation for those who call methods instead of sending messages.
///
///     enum ShopRoute: Hashable, Codable, Sendable {
///         case item(id: Int)
///     }
///
///     let router = Router(ShopRoute.self, bus: bus, platform: "ios")
///     try await router.push(.item(id: 7))
///     try await router.pop()
///
/// A route is an enum: the name of its case is the screen's, its associated values are the screen's arguments. A route of
/// another shape is refused. `CodingKeys` give them other names.
///
/// Every call is a `command.NavigationRequested`, and returns once the machine has answered it: a back swipe, a rule of the
/// flow and a call all change one state, and none of them can get ahead of it. The flow lists what it lets views request.
///
/// A call is over when it returns; there is nothing to run, and nothing is left behind.
public struct Router<Route: Hashable & Codable & Sendable>: Sendable {
    let bus: any EventBus
    let platform: String
    let device: String?
    let session: String
    let deadline: Duration
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - routes: the routes.
    ///   - platform: that of the flow.
    ///   - device: the device that the calls come from.
    ///   - session: whose app it is.
    ///   - deadline: how long a call waits for its answer. Nobody acts upon it later.
    ///   - clock: measures that.
    public init(
        _ routes: Route.Type = Route.self, bus: any EventBus, platform: String, device: String? = nil,
        session: String = Session.default, deadline: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.bus = bus
        self.platform = platform
        self.device = device
        self.session = session
        self.deadline = deadline
        self.clock = clock
    }
}

extension Router {
    /// Puts a screen on the path in front.
    /// - Parameter instance: the screen that asks; once it is gone, it asks too late.
    /// - Returns: the revision of the state in which this is done.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func push(_ route: Route, from instance: String? = nil) async throws -> Int {
        try await request(["push": try Destination(route).json], from: instance)
    }

    /// Takes screens off the path in front; all of them or, where there are fewer, none.
    /// - Parameter instance: the screen that asks; once it is gone, it asks too late: the second tap on its button does
    ///   not take the one beneath it as well.
    /// - Returns: the revision of the state in which this is done.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func pop(_ count: Int = 1, from instance: String? = nil) async throws -> Int {
        try await request(["pop": .integer(count)], from: instance)
    }

    /// Takes all screens off the path in front.
    /// - Parameter instance: the screen that asks; once it is gone, it asks too late.
    /// - Returns: the revision of the state in which this is done.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func popToRoot(from instance: String? = nil) async throws -> Int {
        try await request("popToRoot", from: instance)
    }

    /// Makes these screens the path in front, each a new one.
    /// - Parameter instance: the screen that asks; once it is gone, it asks too late.
    /// - Returns: the revision of the state in which this is done.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func replacePath(_ routes: [Route], from instance: String? = nil) async throws -> Int {
        try await request(["replacePath": .array(try routes.map { try Destination($0).json })], from: instance)
    }
}
