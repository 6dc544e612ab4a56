internal import Consuming
internal import Contracts
internal import EventBus
internal import Monitor
package import Support
package import WebPage

/// The inspector of the page: the messages, happenings, processes and flows of the bus.
package struct Inspector: PageFeature {
    /// The time between a count of the dead letters and the next second in which they may be counted.
    private static let letterPause: Duration = .seconds(4)
    /// The time between two requests for the metrics of the processes.
    private static let metricsInterval: Duration = .seconds(1)

    package let kinds: [String: PageAudience] = [
        "happenings": .operators, "map": .operators, "messages": .operators, "processes": .operators,
    ]
    private let environment: PageEnvironment
    private let metrics: MetricsRequests
    private let observer: BusObserver
    private let routes: InspectorRoutes
    private let mapObserver: MapObserver
    private let mapRoutes: MapRoutes
    private let bus: EventBus
    private let hub: Hub
    private let clock: any Clock<Duration>

    package init(_ environment: PageEnvironment) {
        self.environment = environment
        (bus, hub, clock) = (environment.bus, environment.hub, environment.clock)
        metrics = MetricsRequests(bus: bus, clock: clock)
        observer = BusObserver(run: hub.identity.run)
        routes = InspectorRoutes(environment, metrics: metrics, observer: observer)
        let drawings = DrawingCache()
        mapObserver = MapObserver(bus: bus, drawings: drawings)
        mapRoutes = MapRoutes(environment, observer: mapObserver, drawings: drawings)
    }

    package func addRoutes(to groups: PageRoutes) {
        routes.add(to: groups)
        mapRoutes.add(to: groups)
    }

    package func open(_ view: ViewRequest) async throws {
        switch view.kind {
        case "messages": try await routes.openMessages(view)
        case "map": try await mapRoutes.open(view)
        case "happenings": try await hub.open(await observer.makeHappeningsView(), as: view.name)
        default: try await hub.open(await observer.makeProcessesView(), as: view.name)
        }
    }

    /// The name of the app.
    package func greeting() async -> [String: JSONValue] {
        ["app": await observer.figures.app.map(JSONValue.string) ?? .null]
    }

    // MARK: The bus

    package func run(_ ready: Latch) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await follow(ready) }
            group.addTask { try await followMap() }
            group.addTask { try await countSeconds() }
            group.addTask { try await countDeadLetters() }
            group.addTask { try await askForMetrics() }
            for try await _ in group {}
        }
    }

    /// Passes all messages of the bus to the observer.
    /// - Parameter following: Opened when the subscription is live.
    private func follow(_ following: Latch) async throws {
        try await BusRetry(holding: .nothing, logger: environment.logger, clock: clock).run {
            let end = try await bus.inspect.end()
            let documents = try await bus.documents(matching: Self.documents)
            let start = await observer.begin(at: end, documents)
            let (notices, noting) = AsyncStream.makeStream(
                of: SubscriptionNotice.self, bufferingPolicy: .bufferingNewest(64))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await notice in notices { await observer.handle(notice) } }
                group.addTask {
                    try await bus.withSubscription(
                        to: [.all], from: .after(start), until: nil, onNotice: { noting.yield($0) }
                    ) { messages in
                        following.open()
                        for try await delivery in messages.deliveries {
                            metrics.handle(delivery.message)
                            await observer.handle(delivery)
                        }
                    }
                    throw BusError(.closed, "the bus was closed")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Follows the bus for the views of kind `map`, once one has been opened.
    private func followMap() async throws {
        try await mapObserver.waitUntilNeeded()
        try await BusRetry(holding: .nothing, logger: environment.logger, clock: clock).run {
            try await mapObserver.follow()
        }
    }

    /// The documents about processes, flows and sessions, with which happenings are told, too.
    private static let documents: [MessageFilter] = [
        .type(Document.Presence.self), .type(Document.Flow.self), .type(Document.NavigationState.self),
        .type(Document.ErrorBanner.self), .type(Document.ServiceContract.self),
    ]

    /// Ends each second in the figures. It does not use the bus: a slow answer would lengthen the second.
    private func countSeconds() async throws {
        while true {
            try await clock.sleep(for: .seconds(1))
            await observer.endSecond()
        }
    }

    /// Asks the processes for their metrics, while a page shows them.
    private func askForMetrics() async throws {
        while true {
            if await hub.isBusConnected, await hub.isShown(oneOf: observer.openProcessViews) {
                let instances = await observer.figures.instances
                if !instances.isEmpty { await observer.setMetrics((try? await metrics.ask(instances)) ?? [:]) }
            }
            try await clock.sleep(for: Self.metricsInterval)
        }
    }

    /// Counts the dead letters from time to time, while their number is needed.
    private func countDeadLetters() async throws {
        while true {
            try await clock.sleep(for: .seconds(1))
            guard await observer.needsDeadLetters, await hub.isBusConnected else { continue }
            if let count = try? await bus.inspect.deadLetterCount(of: nil) { await observer.setDeadLetters(count) }
            try await clock.sleep(for: Self.letterPause)
        }
    }
}
