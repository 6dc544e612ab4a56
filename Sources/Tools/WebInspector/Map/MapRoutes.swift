internal import Contracts
internal import EventBus
internal import Foundation
internal import Hummingbird
internal import Support
internal import WebPage

/// The answers about flows: their drawings, their rules, and the views of kind `map`.
struct MapRoutes: Sendable {
    /// The number of uses in an answer.
    private static let useLimit = 5
    /// The maximum number of messages between the beginning of a story and the use of a rule.
    private static let storyReach = 200

    private let bus: EventBus
    private let hub: Hub
    private let observer: MapObserver
    private let drawings: DrawingCache
    private let requests: BusRequests
    /// The drawings that requests wait for.
    private let permits = RequestPermits()

    init(_ environment: PageEnvironment, observer: MapObserver, drawings: DrawingCache) {
        (bus, hub) = (environment.bus, environment.hub)
        self.observer = observer
        self.drawings = drawings
        requests = BusRequests(hub: environment.hub, clock: environment.clock)
    }

    func add(to groups: PageRoutes) {
        groups.operators.read("flows/:platform", use: drawing)
            .read("flows/:platform/rule", use: rule)
    }

    /// Opens a view of a session, or of all.
    func open(_ view: ViewRequest) async throws {
        let session: String?
        switch view["session"] {
        case nil, .null?: session = nil
        case .string(let name)? where !name.isEmpty && name.utf8.count <= NavigationHistory.nameLength: session = name
        default: throw RequestError.malformed("'session' has to be the name of a session, or null for all sessions")
        }
        try await hub.open(await observer.makeView(session: session), as: view.name)
    }

    private func drawing(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let flow = try await flow(context)
        try permits.acquire()
        defer { permits.release() }
        return .json(bytes: try await drawings.drawing(of: flow))
    }

    private func flow(_ context: GatewayContext) async throws -> Document.Flow {
        let text = try context.parameters.require("platform")
        let platform = PercentEncoding.decode(text) ?? text
        let document = try await requests.perform {
            try await bus.document(Document.Flow.type, subject: Session.default, key: platform)
        }
        // A document that cannot be read is not a flow.
        guard let flow = try? document?.decode(Document.Flow.self), flow.platform == platform else {
            throw RequestError.notFound(
                "there is no flow of the platform '\(platform.shown(to: 100))'; its coordinator may have ended")
        }
        return flow
    }

    private func read(_ flow: Document.Flow) async throws -> ReadFlow {
        try permits.acquire()
        defer { permits.release() }
        return try await drawings.read(flow)
    }

    // MARK: One rule

    private func rule(_ request: Request, _ context: GatewayContext) async throws -> Response {
        guard let key = request.parameter("key") else {
            throw RequestError.malformed("'key' has to be the key of a rule, such as transitions[3]")
        }
        let session = request.parameter("session")
        let flow = try await flow(context)
        let read = try await read(flow)
        let location = flow.rules?[key]
        guard location != nil || read.lines[key] != nil else {
            throw RequestError.notFound("the flow has no rule '\(key.shown(to: 100))'")
        }
        // The location may be in a file of Swift, so it does not tell the line of the source.
        let line = read.lines[key]
        let uses = await observer.uses(of: key, of: flow, in: session).prefix(Self.useLimit)
        var rows: [JSONValue] = []
        for use in uses {
            // A use is known without its story's beginning, too.
            let beginning = try? await requests.perform { try await start(of: use) }
            rows.append(use.json(since: beginning.flatMap(\.self)))
        }
        let lines = line.map { RuleText.lines(at: $0, in: flow.source) } ?? []
        return .json([
            "location": location.map { .string($0.shown(to: NavigationHistory.nameLength)) } ?? .null,
            "line": line.map(JSONValue.integer) ?? .null, "lines": .array(lines.map(JSONValue.string)),
            "uses": .array(rows),
        ])
    }

    /// The time at which the story of a use began. Nil if it is not known.
    private func start(of use: NavigationHistory.Use) async throws -> Date? {
        let end = use.position
        let start = try await bus.inspect.position(end, offsetBy: -Self.storyReach)
        return try await bus.withSubscription(to: [.all], from: .after(start), until: end) { messages in
            for try await message in messages where message.id == use.story { return message.attributes.time }
            return nil
        }
    }
}

extension NavigationHistory.Use {
    /// - Parameter start: The time at which the story began. Nil if it is not known.
    fileprivate func json(since start: Date?) -> JSONValue {
        let after = start.flatMap { Int(exactly: (time.timeIntervalSince($0) * 1000).rounded()) }
        return [
            "story": .string(story), "session": .string(session), "time": .string(Timestamp.text(of: time)),
            "words": .string(words), "after": after.map(JSONValue.integer) ?? .null,
        ]
    }
}
