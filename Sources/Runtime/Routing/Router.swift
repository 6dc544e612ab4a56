internal import Contracts
public import EventBus
internal import Navigation
internal import Support

/// Navigation by method calls instead of messages.
///
///     enum ShopRoute: Hashable, Codable, Sendable {
///         case item(id: Int)
///     }
///
///     let router = Router(ShopRoute.self, bus: bus, platform: "ios")
///     try await router.push(.item(id: 7))
///     try await router.pop()
///
/// The type of the routes is an enum: the name of a case is the name of a screen, and the associated values are the
/// screen's arguments. `CodingKeys` can give other names to the cases and the values. A call with a route that is not
/// encoded as an enum case throws ``RouterError/noRoute(_:)``.
///
/// Each call that navigates sends a `command.NavigationRequested` and returns after the coordinator has answered it.
/// The flow must allow the actions that the calls request. If a guard with `meanwhile: queue` holds the command back, the
/// call returns after the wait has ended.
public struct Router<Route: Hashable & Codable & Sendable>: Sendable {
    private let bus: EventBus
    private let platform: String
    private let device: String?
    private let session: String
    private let deadline: Duration
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - routes: the type of the routes.
    ///   - platform: the platform of the flow.
    ///   - device: the device that makes the calls. Nil if the calls do not come from a device.
    ///   - session: the session of the app.
    ///   - deadline: the maximum time that a call waits for its answer. The command of the call expires after this
    ///     time, and the call throws ``RouterError/unanswered(after:)``.
    ///   - clock: measures the deadline.
    public init(
        _ routes: Route.Type = Route.self, bus: EventBus, platform: String, device: String? = nil,
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

    /// Pushes a screen onto the front path.
    /// - Parameter instance: the screen that makes the call. If it is gone, the call is refused as too late.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func push(_ route: Route, from instance: String? = nil) async throws -> Int {
        try await request(["push": try Destination(route).json], from: instance)
    }

    /// Comes back to the screen of the route if it is open, and dismisses the screens above it; otherwise pushes it
    /// onto the front path.
    /// - Parameter instance: the screen that makes the call. If it is gone, the call is refused as too late.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``, also if the screen is in front already; `BusError`.
    @discardableResult
    public func goTo(_ route: Route, from instance: String? = nil) async throws -> Int {
        try await request(["goTo": try Destination(route).json], from: instance)
    }

    /// Pops screens from the front path. If `count` is less than 1, or the path has fewer screens, the call is refused.
    /// - Parameter instance: the screen that makes the call; its own path is changed. If it is gone, the call is
    ///   refused as too late. If another screen covers it, the call is refused too.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func pop(_ count: Int = 1, from instance: String? = nil) async throws -> Int {
        try await request(["pop": .integer(count)], from: instance)
    }

    /// Goes back as a hardware key does: pops a screen, dismisses a presentation, or selects the tab before. If there
    /// is nothing to go back to, the call is refused, and the app may be left.
    /// - Parameter instance: the screen that makes the call. If it is gone, the call is refused as too late.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func back(from instance: String? = nil) async throws -> Int {
        try await request("back", from: instance)
    }

    /// Pops all screens from the front path.
    /// - Parameter instance: the screen that makes the call. If it is gone, the call is refused as too late.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func popToRoot(from instance: String? = nil) async throws -> Int {
        try await request("popToRoot", from: instance)
    }

    /// Replaces the front path with screens for these routes. Screens at the beginning of the path that have the same
    /// routes already are kept. If the path has these routes already, the call is refused.
    /// - Parameter instance: the screen that makes the call. If it is gone, the call is refused as too late.
    /// - Returns: the revision of the state with the change.
    /// - Throws: ``RouterError``; `BusError`.
    @discardableResult
    public func replacePath(_ routes: [Route], from instance: String? = nil) async throws -> Int {
        try await request(["replacePath": .array(try routes.map { try Destination($0).json })], from: instance)
    }

    /// The current front path. Nil if the bus has no state for this platform and session.
    public var path: RoutePath<Route>? {
        get async throws { try await snapshot().map { RoutePath($0.state) } }
    }

    /// Follows the front path while `body` runs, beginning with its current value.
    ///
    ///     try await router.withPaths { paths in
    ///         for try await path in paths { show(path.routes) }
    ///     }
    public func withPaths<Result: Sendable>(
        _ body: (RoutePaths<Route>) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(
            to: [.type(Document.NavigationState.self, subject: session)], from: .retained
        ) { messages in
            try await body(RoutePaths(messages: messages, platform: platform))
        }
    }

    /// Sends an action to the machine, and waits for the resulting state or for the reason why it was discarded.
    func request(_ action: JSONValue, from instance: String?) async throws -> Int {
        let origin = Origin(platform: platform, device: device, instance: instance)
        // The subscription starts before the command is sent, so that the answer cannot be missed.
        return try await bus.withSubscription(to: answers, from: .now) { messages in
            let command = try await bus.send(
                Command.NavigationRequested(action: action), subject: session, origin: origin, lifetime: deadline)
            switch try await withDeadline({ try await answer(to: command.id, in: messages) }) {
            case .done(let revision): return revision
            case .discarded(let reason): throw try await refusal(reason, of: instance)
            }
        }
    }

    private var answers: [MessageFilter] {
        [
            .type(Document.NavigationState.self, subject: session),
            .type(DomainEvent.MessageDiscarded.self, subject: session),
        ]
    }

    private func answer(to command: String, in messages: MessageSequence) async throws -> RouterAnswer {
        for try await message in messages where !message.isTombstone {
            switch message.type {
            case Document.NavigationState.type where message.attributes.key == platform:
                let snapshot = try message.decode(Document.NavigationState.self).snapshot
                // A state in which a guard holds the command back is not yet the answer.
                if snapshot.cause == command, !snapshot.holds(command) { return .done(snapshot.revision) }
            case DomainEvent.MessageDiscarded.type:
                let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
                if discarded.messageID == command { return .discarded(discarded.reason) }
            default: break
            }
        }
        throw RouterError.unanswered(after: deadline)
    }

    private func withDeadline(
        _ body: @escaping @Sendable () async throws -> RouterAnswer
    ) async throws -> RouterAnswer {
        try await withTimeLimit(deadline, clock: clock, orThrow: RouterError.unanswered(after: deadline), body)
    }

    /// The error for a discarded command: ``RouterError/late(_:)`` if the calling instance is gone now.
    private func refusal(_ reason: String, of instance: String?) async throws -> RouterError {
        let prefix = "\(Command.NavigationRequested.type): "
        let reason = String(reason.removing(prefix: prefix) ?? reason[...])
        guard let instance, let state = try await snapshot()?.state, !state.isOpen(instance) else {
            return .refused(reason)
        }
        return .late(reason)
    }

    func snapshot() async throws -> NavigationSnapshot? {
        try await bus.document(Document.NavigationState.self, subject: session, key: platform)?.snapshot
    }
}

extension NavigationSnapshot {
    /// True if a guard holds this message back.
    fileprivate func holds(_ message: String) -> Bool {
        state.attempts.contains { $0.queue.contains { $0.id == message } }
    }
}

/// The machine's answer to a call.
enum RouterAnswer: Sendable {
    /// The revision of the state with the change.
    case done(Int)
    /// The command was discarded, with the reason.
    case discarded(String)
}

/// The reason why a router did not carry out a call, or does not know whether the call was carried out.
public enum RouterError: Error, Hashable, Sendable {
    /// The command was discarded, for example because the flow does not allow the action or there is nothing to pop.
    /// The value is the reason.
    case refused(String)
    /// The command was discarded, and the screen that made the call is gone. The value is the reason.
    case late(String)
    /// No answer came within this time. The command has expired: if it has not been handled yet, it is discarded.
    /// Check that a coordinator runs for the platform.
    case unanswered(after: Duration)
    /// The route is not encoded as an enum case, or cannot be encoded as JSON. The value describes the problem.
    case noRoute(String)
}

extension RouterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let reason), .late(let reason), .noRoute(let reason): reason
        case .unanswered(let deadline):
            "the platform's coordinator has not answered within \(deadline); check that it runs"
        }
    }
}

/// A route in the form that the flow uses: a screen and its arguments.
///
/// Swift encodes a case of an enum as an object with the name of the case and its associated values:
/// `{"item":{"id":7}}`.
struct Destination {
    private let screen: String
    private let arguments: [String: JSONValue]

    /// - Throws: ``RouterError/noRoute(_:)`` if the value is not encoded in the form of an enum case.
    init(_ route: some Encodable) throws {
        do {
            let json = try JSONValue(encoding: route)
            guard let members = json.objectValue, members.count == 1, let (screen, value) = members.first,
                let arguments = value.objectValue
            else { throw RouterError.noRoute("\(route) is not an enum case; make the route an enum") }
            self.screen = screen
            self.arguments = arguments
        } catch let error as EncodingError {
            throw RouterError.noRoute("\(route) cannot be encoded as JSON: \(error)")
        }
    }

    var json: JSONValue { ["screen": .string(screen), "arguments": .object(arguments)] }
}

extension ScreenInstance {
    /// The route of this screen. Nil if no case of the enum matches the screen and its arguments.
    func route<Route: Decodable>(_ type: Route.Type) -> Route? {
        try? JSONValue.object([screen: .object(arguments)]).decode(type)
    }
}
