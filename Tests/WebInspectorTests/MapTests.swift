import Contracts
import DeviceTestSupport
import EventBus
import FlowFiles
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import Navigation
import PageTestSupport
import Support
import Synchronization
import TestSupport
import Testing
import WebPage

@testable import WebInspector

/// What a page knows of a map, from the updates of one view.
private struct PageMap {
    var flows: [JSONValue] = []
    var here: [String: JSONValue] = [:]
    var taken: [String: [String: JSONValue]] = [:]
    var counted: JSONValue?
    var moves: [JSONValue] = []

    mutating func apply(_ update: JSONValue) {
        flows = update["flows"]?.arrayValue ?? flows
        here.merge(update["here"]?.objectValue ?? [:]) { $1 }
        for (platform, counts) in update["taken"]?.objectValue ?? [:] {
            taken[platform, default: [:]].merge(counts.objectValue ?? [:]) { $1 }
        }
        counted = update["counted"] ?? counted
        moves += update["moves"]?.arrayValue ?? []
    }

    /// Reads updates until a condition holds.
    mutating func read(_ stream: EventStream, until isComplete: (PageMap) -> Bool) async throws {
        while !isComplete(self) {
            guard let event = try await stream.next() else { throw StreamEnded() }
            if let update = event.data.value(at: "views.m") { apply(update) }
        }
    }

    struct StreamEnded: Error {}
}

private let start: JSONValue = ["detail": ["shown": 1, "front": 1]]

/// A coordinator that publishes states.
private struct Coordinator {
    let bus: EventBus

    /// Publishes a tap and the state that it causes.
    @discardableResult
    func show(
        _ front: String, _ revision: Int, platform: String = "ios", session: String = "default", rule: String? = nil
    ) async throws -> (tap: Envelope, state: Envelope) {
        let tap = try await bus.send(Command.Greet(name: "a"), subject: session)
        let snapshot = try state(front, revision, platform: platform, session: session, rule: rule)
        return (tap, try await bus.publish(Document.NavigationState(snapshot), causedBy: tap))
    }

    /// Publishes the flow of a platform. Its hash is that of the states.
    func publishFlow(
        platform: String = "ios", source: String = "", rules: [String: String]? = nil, hash: String? = nil
    ) async throws {
        let hash = try hash ?? state("list", 0, platform: platform).flow.hash
        try await bus.publish(
            Document.Flow(platform: platform, name: "shop", version: 1, hash: hash, source: source, rules: rules))
    }

    func withdrawFlow() async throws {
        var attributes = Attributes(type: Document.Flow.type, source: bus.source)
        attributes.key = "ios"
        try await bus.publish(Batch([Envelope(attributes: attributes, data: Data())]))
    }
}

private let shop = """
    name: shop
    version: 1
    platform: ios
    start: list
    screens:
      list: { sends: [command.Chosen, command.CheckoutRequested] }
      detail:
      credentials:
    transitions:
      # A person chooses.
      - on: command.Chosen
        do:
          # The list stays beneath.
          - push: detail

      # A comment of the next rule.
      - on: command.CheckoutRequested
        do: [{ push: { flow: signUp } }]
      - on: flow.finished
        do: [{ push: detail }]
    flows:
      signUp:
        start: credentials
        transitions:
          - on: event.SignedUp
            do: [{ finish: {} }]
    links:
      - url: shop://detail
        to: { root: list, path: [detail] }
    """

/// The end of a flow whose screens are all shown by one rule.
private let rules = "transitions: [{ on: event.A, do: [pop] }]"

private func open(
    _ page: PageClient, _ session: JSONValue = .null, stream id: String = "abcdefgh"
) async throws -> EventStream {
    let stream = try page.stream(id)
    _ = try await stream.next()
    let view: JSONValue = ["id": "m", "kind": "map", "session": session]
    let answer = try await page.post("/api/stream/\(id)/views", ["open": [view]])
    #expect(answer.status == .noContent)
    return stream
}

@Suite("Map of the page", .timeLimit(.minutes(2)))
struct MapTests {
    @Test("A page gets the present screens, the counts from the journal's beginning, and then the moves in order")
    func all() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let coordinator = Coordinator(bus: bus)
        try await coordinator.publishFlow(source: shop)
        try await coordinator.publishFlow(platform: "mac")
        try await coordinator.show("list", 1)
        try await coordinator.show("detail", 2, rule: "transitions[0]")
        // A platform without a coordinator is not drawn.
        try await coordinator.show("list", 1, platform: "tv")
        try await withGateway(bus) { page in
            let stream = try await open(page)
            defer { stream.close() }
            var map = PageMap()
            try await map.read(stream) { $0.counted != nil }
            #expect(map.flows.map { $0["platform"] } == ["ios", "mac"])
            #expect(map.here == ["ios": start, "mac": [:]])
            #expect(map.taken == ["ios": ["transitions[0]": 1]])
            #expect(map.counted?["since"]?.stringValue != nil)
            #expect(map.moves.isEmpty, "only changes while the view is open")
            // Another platform and session, and then the first one.
            try await coordinator.show("list", 1, platform: "mac", session: "b")
            try await coordinator.show("detail", 2, platform: "mac", session: "b")
            let (tap, state) = try await coordinator.show("list", 3, rule: "flows.signUp.transitions[0]")
            try await coordinator.show("detail", 4, rule: "links[0]")
            try await map.read(stream) { $0.moves.count == 3 }
            #expect(map.moves.map { $0["platform"] } == ["mac", "ios", "ios"])
            #expect(map.moves.map { $0["kind"] } == [.null, "event", "event"])
            #expect(map.moves.map { $0["session"] } == ["b", "default", "default"])
            let move = map.moves[1]
            #expect(move["from"] == "detail" && move["to"] == "list")
            #expect(move["story"] == .string(tap.id) && move["message"] == .string(state.id))
            #expect(
                map.taken == ["ios": ["transitions[0]": 1, "flows.signUp.transitions[0]": 1, "links[0]": 1]])
        }
    }

    @Test("A map of one session shows nothing of the others")
    func oneSession() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let coordinator = Coordinator(bus: bus)
        try await coordinator.publishFlow(source: shop)
        for session in ["a", "b"] {
            try await coordinator.show("list", 1, session: session)
            try await coordinator.show("detail", 2, session: session, rule: "transitions[0]")
        }
        try await withGateway(bus) { page in
            let stream = try await open(page, "a")
            defer { stream.close() }
            var map = PageMap()
            try await map.read(stream) { $0.counted != nil }
            #expect(map.here == ["ios": start] && map.taken == ["ios": ["transitions[0]": 1]])
            try await coordinator.show("list", 3, session: "b", rule: "links[0]")
            try await coordinator.show("list", 3, session: "a", rule: "transitions[2]")
            try await map.read(stream) { !$0.moves.isEmpty }
            #expect(map.moves.map { $0["session"] } == ["a"] && map.taken["ios"]?["links[0]"] == nil)
        }
    }

    @Test("A flow disappears with its coordinator, and the rules of a changed flow are counted anew")
    func restarted() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let coordinator = Coordinator(bus: bus)
        try await coordinator.publishFlow()
        try await coordinator.show("list", 1)
        try await coordinator.show("detail", 2, rule: "transitions[0]")
        try await withGateway(bus) { page in
            let stream = try await open(page)
            defer { stream.close() }
            var map = PageMap()
            try await map.read(stream) { $0.counted != nil }
            try await coordinator.withdrawFlow()
            try await map.read(stream) { $0.flows.isEmpty }
            map.taken = [:]
            try await coordinator.publishFlow(hash: "0123456789abcdef")
            try await map.read(stream) { !$0.flows.isEmpty }
            #expect(map.taken.isEmpty)
            // The same flow as before has its counts.
            try await coordinator.publishFlow()
            try await map.read(stream) { !$0.taken.isEmpty }
            #expect(map.taken == ["ios": ["transitions[0]": 1]])
        }
    }

    @Test("The states are followed, and the journal is read, only once a map is open")
    func idle() async throws {
        let bus = RecordingBus(EventBus.inMemory(source: "web-gateway/1"))
        try await withGateway(bus.bus) { page in
            let happenings = try page.stream("happenings")
            defer { happenings.close() }
            _ = try await happenings.next()
            let view: JSONValue = ["id": "h", "kind": "happenings"]
            #expect(try await page.post("/api/stream/happenings/views", ["open": [view]]).status == .noContent)
            _ = try await happenings.next()
            #expect(bus.stateSubscriptions == 0)
            for id in ["abcdefgh", "ijklmnop"] {
                let stream = try await open(page, stream: id)
                defer { stream.close() }
                var map = PageMap()
                try await map.read(stream) { $0.counted != nil }
                #expect(
                    bus.stateSubscriptions <= 1, "all views share one subscription, and an empty journal is not read")
            }
        }
    }

    @Test("With another journal, everything begins anew")
    func anotherJournal() async throws {
        let bus = ReplaceableBus(EventBus.inMemory(source: "web-gateway/1"))
        let first = Coordinator(bus: bus.inner)
        try await first.publishFlow()
        try await first.show("list", 1)
        try await first.show("detail", 2, rule: "transitions[0]")
        let observed = ObservedMap(observer: MapObserver(bus: bus.bus, drawings: DrawingCache()))
        let view = await observed.observer.makeView(session: nil)
        let before = try await observed.follow(view) { $0.counted?.objectValue != nil }
        #expect(before.taken == ["ios": ["transitions[0]": 1]])
        bus.replace(by: EventBus.inMemory(source: "web-gateway/1"))
        try await Coordinator(bus: bus.inner).publishFlow(platform: "mac")
        let after = try await observed.follow(view) { $0.counted?.objectValue != nil }
        #expect(
            after.flows.map { $0["platform"] } == ["mac"] && after.here == ["ios": [:], "mac": [:]]
                && after.taken.isEmpty)
    }

    @Test("A subscription that was interrupted continues after its last message, and counts nothing twice")
    func interrupted() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let coordinator = Coordinator(bus: bus)
        try await coordinator.publishFlow()
        try await coordinator.show("list", 1)
        try await coordinator.show("detail", 2, rule: "transitions[0]")
        let observed = ObservedMap(observer: MapObserver(bus: bus, drawings: DrawingCache()))
        let view = await observed.observer.makeView(session: nil)
        let before = try await observed.follow(view) { $0.counted != nil }
        #expect(before.taken == ["ios": ["transitions[0]": 1]])
        try await coordinator.show("list", 3, rule: "transitions[1]")
        let after = try await observed.follow(view) { !$0.moves.isEmpty }
        #expect(after.taken == ["ios": ["transitions[1]": 1]] && after.flows.isEmpty && after.counted == nil)
        #expect(after.moves.map { $0["from"] } == ["detail"])
        // A page that opens its view later gets all counts.
        let other = await observed.observer.makeView(session: nil)
        let all = try await observed.follow(other) { $0.counted != nil }
        #expect(all.taken == ["ios": ["transitions[0]": 1, "transitions[1]": 1]] && all.moves.isEmpty)
    }

    @Test("The drawing of a flow has its cards, child flow, rules and links, and numbers that are finite")
    func drawing() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await Coordinator(bus: bus).publishFlow(source: shop)
        try await withGateway(bus) { page in
            let answer = try await page.get("/api/flows/ios")
            #expect(answer.status == .ok)
            let drawing = answer.json
            #expect(drawing["platform"] == "ios" && drawing["name"] == "shop" && drawing["version"] == 1)
            #expect((drawing["note"] == .null) == (drawing["layout"] == "graphviz"))
            let cards = try #require(drawing["cards"]?.arrayValue)
            #expect(Set(cards.compactMap { $0["screen"]?.stringValue }) == ["list", "detail", "credentials"])
            let list = try #require(cards.first { $0["screen"] == "list" })
            #expect(list["kind"] == "start" && list["sends"] == ["command.CheckoutRequested", "command.Chosen"])
            let arrows = try #require(drawing["arrows"]?.arrayValue)
            let rules = Set(arrows.flatMap { $0["rules"]?.arrayValue ?? [] }.compactMap(\.stringValue))
            #expect(rules.isSuperset(of: ["transitions[0]", "transitions[1]", "flows.signUp.transitions[0]"]))
            for arrow in arrows {
                let path = try #require(arrow["path"]?.arrayValue)
                #expect(path.count >= 4 && path.count % 3 == 1)
                #expect(path.allSatisfy { ($0.arrayValue ?? []).compactMap(\.numberValue).count == 2 })
            }
            #expect(try await page.get("/api/flows/ios").body == answer.body, "kept")
            #expect(try await page.get("/api/flows/tv").status == .notFound)
        }
    }

    @Test(
        "A flow that cannot be drawn is refused in one line",
        arguments: [
            (source: "name: [", code: "flow.malformed"),
            (source: "", code: "flow.malformed"),
            (source: String(repeating: "# comment\n", count: 40_000), code: "flow.too-large"),
            (
                source: "name: a\nversion: 1\nplatform: ios\nstart: s0\nscreens:\n"
                    + (0..<4000).map { "  s\($0):\n" }.joined() + rules, code: "flow.too-large"
            ),
        ])
    func refused(source: String, code: String) async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await Coordinator(bus: bus).publishFlow(source: source)
        try await withGateway(bus) { page in
            let answer = try await page.get("/api/flows/ios")
            #expect(
                answer.status == .unprocessableContent && answer.json.value(at: "error.code") == .string(code),
                "\(answer.json)")
            let message = try #require(answer.json.value(at: "error.message")?.stringValue)
            #expect(message.lines.count == 1 && message.unicodeScalars.count <= 400)
        }
    }

    @Test("A rule has its lines and its last uses, with the time since their stories began")
    func rule() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let coordinator = Coordinator(bus: bus)
        let locations = try Flow(yaml: shop, file: "shop.yaml").ruleLocations.mapValues(\.description)
        try await coordinator.publishFlow(source: shop, rules: locations)
        try await coordinator.show("list", 1, session: "a")
        var stories: [String] = []
        for revision in 2..<9 {
            stories.append(
                try await coordinator.show("detail", revision, session: "a", rule: "transitions[0]").tap.id)
        }
        let newest = Array(stories.reversed().prefix(5))
        try await withGateway(bus) { page in
            let stream = try await open(page)
            defer { stream.close() }
            var map = PageMap()
            try await map.read(stream) { $0.counted != nil }
            let path = "/api/flows/ios/rule?key="
            let rule = try await page.get(path + PercentEncoding.encode("transitions[0]")).json
            #expect(rule["location"] == "shop.yaml:11" && rule["line"] == 11)
            #expect(
                rule["lines"] == [
                    "  - on: command.Chosen", "    do:", "      # The list stays beneath.", "      - push: detail",
                ])
            let uses = try #require(rule["uses"]?.arrayValue)
            #expect(uses.compactMap { $0["story"]?.stringValue } == newest)
            #expect(uses.allSatisfy { $0["after"]?.integerValue != nil && $0["session"] == "a" })
            let other = try await page.get(path + "transitions%5B0%5D&session=b").json
            #expect(other["uses"] == [])
            let child = try await page.get(path + "flows.signUp.transitions%5B0%5D").json
            #expect(child["lines"]?.arrayValue?.count == 2)
            let link = try await page.get(path + "links%5B0%5D").json
            #expect(link["lines"]?.arrayValue?.first == "  - url: shop://detail")
            #expect(try await page.get(path + "transitions%5B99%5D").status == .notFound)
            #expect(try await page.get("/api/flows/tv/rule?key=links%5B0%5D").status == .notFound)
            #expect(try await page.get("/api/flows/ios/rule").status == .badRequest)
        }
    }

    @Test(
        "A map cannot be opened with something else than the name of a session",
        arguments: [1, "", true] as [JSONValue])
    func malformed(session: JSONValue) async throws {
        try await withGateway { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "m", "kind": "map", "session": session]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .badRequest)
        }
    }

    @Test("Hostile text in a flow is text, and has a limited size")
    func hostileText() async throws {
        let markup = #"<img src=x onerror=alert(1)>\u202e"#
        let source = """
            name: "\(markup)"
            version: 1
            platform: ios
            start: list
            screens:
              list: { title: "\(markup)\(String(repeating: "a", count: 10_000))" }
            \(rules)
            """
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await Coordinator(bus: bus).publishFlow(source: source)
        try await withGateway(bus) { page in
            let drawing = try await page.get("/api/flows/ios").json
            #expect(drawing["error"] == nil)
            let title = try #require(drawing["cards"]?.arrayValue?.first?["title"]?.stringValue)
            #expect(title.contains("<img src=x") && title.unicodeScalars.count <= 400)
            #expect(!title.unicodeScalars.contains("\u{202E}"))
        }
    }
}

/// An observer that a test starts and stops.
private struct ObservedMap {
    let observer: MapObserver

    /// Follows the bus until a condition holds for the updates of a view.
    func follow(_ view: PageView<MapView>, until isComplete: (PageMap) -> Bool) async throws -> PageMap {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await observer.follow() }
            var map = PageMap()
            while !isComplete(map) {
                await Task.yield()
                if let bytes = view.dequeueUpdate(size: .max) { map.apply(try JSONValue(parsing: Data(bytes))) }
            }
            return map
        }
    }
}

/// A bus whose journal a test replaces.
private final class ReplaceableBus: ForwardingEngine {
    private let current: Mutex<EventBus>

    init(_ bus: EventBus) { current = Mutex(bus) }

    var inner: EventBus { current.withLock { $0 } }

    func replace(by bus: EventBus) { current.withLock { $0 = bus } }
}

/// A bus that counts the subscriptions to states.
private final class RecordingBus: ForwardingEngine {
    let inner: EventBus
    private let count = Mutex(0)

    init(_ bus: EventBus) { inner = bus }

    var stateSubscriptions: Int { count.withLock { $0 } }

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        if filters.contains(.type(Document.NavigationState.self)) { count.withLock { $0 += 1 } }
        return try await inner.engine.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }
}

@Suite("Text of a rule")
struct RuleTextTests {
    @Test("A rule ends before the next one, without the blank lines and comments between them")
    func lines() {
        let source = "a:\n  # 1\n  - on: x\n    do: 1\n\n    # 2\n\n  # 3\n  - on: y\nb: 1\n"
        #expect(RuleText.lines(at: 3, in: source) == ["  - on: x", "    do: 1"])
        #expect(RuleText.lines(at: 9, in: source) == ["  - on: y"])
    }

    @Test("A line that does not exist has no text", arguments: [Int.min, -1, 0, 3, Int.max])
    func outside(line: Int) {
        #expect(RuleText.lines(at: line, in: "a\nb\n") == [])
    }

    @Test("A rule has at most 60 lines of at most 200 characters")
    func limits() {
        let source = "- a\n" + String(repeating: "  " + String(repeating: "b", count: 1000) + "\n", count: 100)
        let lines = RuleText.lines(at: 1, in: source)
        #expect(lines.count == 60 && lines.allSatisfy { $0.unicodeScalars.count <= 200 })
    }
}
