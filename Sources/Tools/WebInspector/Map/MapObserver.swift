internal import Contracts
internal import EventBus
internal import Foundation
internal import Support
internal import WebPage

/// The screens, moves and rules of all sessions, for the views of kind `map`. It follows the bus once the first view has
/// been opened.
actor MapObserver {
    /// The documents that it follows.
    private static let filters: [MessageFilter] = [
        .type(Document.Flow.self), .type(Document.NavigationState.self),
    ]
    /// The number of documents that are read at a time.
    private static let pageSize = 500
    /// The maximum number of platforms with a flow, and the maximum size of a flow's document in bytes.
    private static let (platformLimit, flowLimit) = (32, 2 << 20)

    private struct Platform {
        /// The position of the last document.
        var position: Position
        /// Nil if the coordinator has ended.
        var flow: MapFlow?
        var kinds: [String: String] = [:]
    }

    private let bus: EventBus
    private let drawings: DrawingCache
    /// Opened with the first view.
    private let isNeeded = Latch()
    private var history = NavigationHistory()
    private var platforms: [String: Platform] = [:]
    /// The position up to which everything was handled live. Nil until the present documents have been read.
    private var settled: Position?
    /// The end of the messages that are read from the journal's beginning, to count the uses of rules. The later ones
    /// are counted live.
    private var pastEnd: Position?
    /// Nil until the journal has been read from its beginning.
    private var counted: CountedSpan?
    private var views: [PageView<MapView>] = []

    init(bus: EventBus, drawings: DrawingCache) {
        self.bus = bus
        self.drawings = drawings
    }

    // MARK: Views

    /// Makes a view.
    /// - Parameter session: The session that the view shows. Nil for all.
    func makeView(session: String?) -> PageView<MapView> {
        forgetClosedViews()
        var state = MapView(session: session)
        if settled != nil { fill(&state) }
        let view = PageView(state)
        views.append(view)
        isNeeded.open()
        return view
    }

    /// The newest uses of a rule, newest first. Empty if no view has been opened.
    func uses(of rule: String, of flow: Document.Flow, in session: String?) -> [NavigationHistory.Use] {
        history.uses(of: rule, of: NavigationHistory.FlowName(platform: flow.platform, hash: flow.hash), in: session)
    }

    private var flows: [MapFlow] { platforms.values.compactMap(\.flow) }

    private func fill(_ view: inout MapView) {
        view.setFlows(flows)
        for flow in flows { fillPlatform(of: flow, in: &view) }
        if let counted { view.setCounted(counted) }
    }

    private func fillPlatform(of flow: MapFlow, in view: inout MapView) {
        view.setScreens(history.screens(on: flow.platform, in: view.session), on: flow.platform)
        fillCounts(of: flow, in: &view)
    }

    private func fillCounts(of flow: MapFlow, in view: inout MapView) {
        let name = NavigationHistory.FlowName(platform: flow.platform, hash: flow.hash)
        view.setCounts(history.counts(of: name, in: view.session), on: flow.platform)
    }

    private func forgetClosedViews() { views.removeAll { $0.isClosed } }

    // MARK: The bus

    /// Waits until the first view is opened.
    nonisolated func waitUntilNeeded() async throws { try await isNeeded.waitUntilOpen() }

    /// Follows the bus until an error occurs.
    nonisolated func follow() async throws {
        let end = try await bus.inspect.end()
        let start = try await begin(at: end)
        let (notices, noting) = AsyncStream.makeStream(
            of: SubscriptionNotice.self, bufferingPolicy: .bufferingNewest(64))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await self.bus.withSubscription(
                    to: Self.filters, from: .after(start), onNotice: { noting.yield($0) }
                ) { messages in
                    for try await delivery in messages.deliveries { try await self.handle(delivery) }
                }
                throw BusError(.closed, "the bus was closed")
            }
            group.addTask {
                for await notice in notices {
                    guard case .removed = notice else { continue }
                    await self.forgetPosition()
                    throw BusError(.epoch, "the journal has lost messages that the map has not read")
                }
            }
            group.addTask {
                guard let end = await self.uncountedEnd else { return }
                let (past, span) = try await Self.past(until: end, on: self.bus)
                await self.setPast(past, span)
            }
            for try await _ in group {}
        }
    }

    /// Reads the present documents, unless messages have been handled that they precede.
    /// - Returns: The position after which the live messages begin.
    private func begin(at end: Position) async throws -> Position {
        if let settled, settled.epoch == end.epoch, settled.offset <= end.offset { return settled }
        if settled != nil { for view in views { view.change { $0.forget() } } }
        (history, platforms, settled, counted, pastEnd) = (NavigationHistory(), [:], nil, nil, end)
        var offset: UInt64 = 0
        while true {
            let page = try await bus.documents(matching: Self.filters, after: offset, limit: Self.pageSize)
            // A newer document will come as a message.
            for document in page where (document.position?.offset ?? .max) <= end.offset {
                if document.type == Document.Flow.type {
                    try await apply(flow: document)
                } else {
                    history.handle(document)
                }
            }
            guard page.count == Self.pageSize, let last = page.last?.position, last.offset < end.offset else { break }
            offset = last.offset
        }
        settled = end
        for view in views { view.change { fill(&$0) } }
        return end
    }

    /// Begins anew with the next subscription.
    private func forgetPosition() { settled = nil }

    private func handle(_ delivery: Delivery) async throws {
        let message = delivery.message
        guard let position = message.position, let settled else { return }
        guard position.epoch == settled.epoch else { throw BusError(.epoch, "the journal was replaced") }
        guard position.offset > settled.offset else { return }
        if message.type == Document.Flow.type {
            try await apply(flow: message)
        } else if let change = history.handle(message) {
            show(change)
        }
        if delivery.lowWatermark > settled.offset {
            self.settled = Position(epoch: settled.epoch, offset: delivery.lowWatermark)
        }
    }

    private func show(_ change: NavigationHistory.Change) {
        forgetClosedViews()
        guard let platform = platforms[change.platform], let flow = platform.flow else { return }
        // The rules of another version of the flow have the same keys.
        let rule = change.flow == flow.hash ? change.rule : nil
        var move = change.move
        move?.rule = rule
        move?.kind = rule.flatMap { platform.kinds[$0] }
        for view in views {
            view.change { view in
                guard view.session == nil || view.session == change.session else { return }
                view.setScreens(history.screens(on: change.platform, in: view.session), on: change.platform)
                if let move { view.add(move) }
                guard let rule else { return }
                let name = NavigationHistory.FlowName(platform: change.platform, hash: change.flow)
                view.setCounts([rule: history.count(of: rule, of: name, in: view.session)], on: change.platform)
            }
        }
    }

    // MARK: Flows

    private func apply(flow document: Envelope) async throws {
        guard document.subject == Session.default, let key = document.attributes.key, let position = document.position,
            key.utf8.count <= NavigationHistory.nameLength, document.data.count <= Self.flowLimit,
            platforms[key] != nil || !document.isTombstone && hasRoom()
        else { return }
        if let known = platforms[key], known.position.offset >= position.offset { return }
        let former = platforms[key]?.flow
        var platform = Platform(position: position)
        if !document.isTombstone {
            guard let flow = try? document.decode(Document.Flow.self), flow.platform == key,
                flow.hash.utf8.count <= NavigationHistory.nameLength
            else { return }
            platform.flow = MapFlow(platform: key, name: flow.name, version: flow.version, hash: flow.hash)
            platform.kinds = try await drawings.read(flow).kinds
        }
        platforms[key] = platform
        history.present = Set(flows.map { NavigationHistory.FlowName(platform: $0.platform, hash: $0.hash) })
        guard platform.flow != former, settled != nil else { return }
        for view in views {
            view.change { view in
                view.setFlows(flows)
                view.forgetCounts(on: key)
                if let flow = platform.flow { fillPlatform(of: flow, in: &view) }
            }
        }
    }

    /// True if there is room for another platform. Those whose coordinator has ended are forgotten first.
    private func hasRoom() -> Bool {
        if platforms.count >= Self.platformLimit { platforms = platforms.filter { $0.value.flow != nil } }
        return platforms.count < Self.platformLimit
    }

    // MARK: The journal from its beginning

    private var uncountedEnd: Position? { counted == nil ? pastEnd : nil }

    private func setPast(_ past: NavigationHistory, _ span: CountedSpan) {
        history.prepend(past)
        counted = span
        for view in views {
            view.change { view in
                for flow in flows { fillCounts(of: flow, in: &view) }
                view.setCounted(span)
            }
        }
    }

    /// Reads the states of all sessions from the beginning of the journal.
    private static func past(until end: Position, on bus: EventBus) async throws -> (NavigationHistory, CountedSpan) {
        guard end.offset > 0 else { return (NavigationHistory(), CountedSpan(since: nil)) }
        let since = try await bus.withSubscription(to: [.all], from: .beginning, until: end) { messages -> Date? in
            // Documents may be older than what the journal still has. A transient message can arrive meanwhile.
            for try await message in messages where message.position != nil && message.kind != .document {
                return message.attributes.time
            }
            return nil
        }
        let filter = MessageFilter.type(Document.NavigationState.self)
        let history = try await bus.withSubscription(to: [filter], from: .beginning, until: end) { messages in
            var history = NavigationHistory()
            for try await message in messages { _ = history.handle(message) }
            return history
        }
        return (history, CountedSpan(since: since))
    }
}
