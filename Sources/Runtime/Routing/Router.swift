internal import Contracts
public import EventBus
internal import Navigation
internal import Support

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
    private let bus: any EventBus
    private let platform: String
    private let device: String?
    private let session: String
    private let deadline: Duration
    private let clock: any Clock<Duration>

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

    /// The path in front as it is now; nil as long as nobody has ever led this platform.
    public var path: RoutePath<Route>? {
        get async throws { try await snapshot().map { RoutePath($0.state) } }
    }

    /// Follows the path in front for as long as `body` runs, from how it is now.
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

    /// Sends an action to the machine, and waits for the state that it led to or for the reason why it led to none.
    func request(_ action: JSONValue, from instance: String?) async throws -> Int {
        let origin = Origin(platform: platform, device: device, instance: instance)
        // The subscription comes first: whatever answers the command comes after it.
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
                // That a guard holds the command back is a change of its own, and no answer yet.
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
        try await withThrowingTaskGroup(of: RouterAnswer.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleep(for: deadline)
                throw RouterError.unanswered(after: deadline)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    /// An instance never comes back: if it is gone by now, that is the reason, or has become as good a one.
    private func refusal(_ reason: String, of instance: String?) async throws -> RouterError {
        let prefix = "\(Command.NavigationRequested.type): "
        let reason = reason.hasPrefix(prefix) ? String(reason.dropFirst(prefix.count)) : reason
        guard let instance, let state = try await snapshot()?.state, !state.isStanding(instance) else {
            return .refused(reason)
        }
        return .late(reason)
    }

    func snapshot() async throws -> NavigationSnapshot? {
        try await bus.document(Document.NavigationState.self, subject: session, key: platform)?.snapshot
    }
}

extension NavigationSnapshot {
    /// Whether a guard holds this message back.
    fileprivate func holds(_ message: String) -> Bool {
        state.attempt?.queue.contains { $0.id == message } ?? false
    }
}

/// What becomes of a call.
enum RouterAnswer: Sendable {
    /// The state has this revision now.
    case done(Int)
    /// It was not acted upon, for this reason.
    case discarded(String)
}

/// Why a call of a router has changed nothing, as far as it knows.
public enum RouterError: Error, Hashable, Sendable {
    /// The flow does not allow it, or the state does not admit it: there is nothing to pop. The machine's words.
    case refused(String)
    /// The screen that asked is gone. The machine's words.
    case late(String)
    /// Nobody has answered in time, and nobody acts upon the call from now on: is there a coordinator for the platform?
    case unanswered(after: Duration)
    /// The value is no case of an enum, and so no route.
    case noRoute(String)
}

extension RouterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let reason), .late(let reason), .noRoute(let reason): reason
        case .unanswered(let deadline): "the platform's coordinator has not answered within \(deadline)"
        }
    }
}

/// A route as a flow knows it: a screen and its arguments.
///
/// This is how Swift itself encodes an enum, `{"item":{"id":7}}`: the case's name, then its associated values.
struct Destination {
    private let screen: String
    private let arguments: [String: JSONValue]

    /// - Throws: ``RouterError/noRoute(_:)`` if it is not of the shape of an enum's case.
    init(_ route: some Encodable) throws {
        do {
            let json = try JSONValue(encoding: route)
            guard let members = json.objectValue, members.count == 1, let (screen, value) = members.first,
                let arguments = value.objectValue
            else { throw RouterError.noRoute("\(route) is no case of an enum, with or without associated values") }
            self.screen = screen
            self.arguments = arguments
        } catch let error as EncodingError {
            throw RouterError.noRoute("\(route) cannot be written as JSON: \(error)")
        }
    }

    var json: JSONValue { ["screen": .string(screen), "arguments": .object(arguments)] }
}

extension ScreenInstance {
    /// The route that leads to this screen; nil when there is none.
    func route<Route: Decodable>(_ type: Route.Type) -> Route? {
        try? JSONValue.object([screen: .object(arguments)]).decode(type)
    }
}
