internal import Consuming
internal import Contracts
internal import Device
internal import EventBus
internal import Foundation
internal import HTTPOperations
internal import Hummingbird
internal import Logging
internal import Monitor
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import ServiceRuntime
internal import SignIn
internal import Sodium
internal import Support
internal import SystemSupport

/// The gateway of the browser page: an HTTP server, and a client of the bus like any other.
struct Gateway: ReadyService {
    struct Configuration: Sendable {
        var address = "127.0.0.1"
        /// With 0 the system chooses a free port.
        var port = 0
        var allowedHosts: [String] = []
        var isReadOnly = false
        /// The token of `/metrics`. Without one, only programs on this machine may read the metrics, and nobody if the
        /// gateway has further hosts.
        var metricsToken: String?
        /// The folder of the key, the address and the used links.
        var folder: PageFolder
        /// The name of the stack.
        var stack = "segue"
        /// The folder of the page's files. Nil for those beside the program.
        var page: String?
        var version = "0.1.0"
        var limits = ConnectionLimits()
    }

    /// The time between two checks that the bus answers.
    private static let busInterval: Duration = .seconds(2)
    private static let busTimeout: Duration = .seconds(3)
    /// The time between a count of the dead letters and the next second in which they may be counted.
    private static let letterPause: Duration = .seconds(4)
    /// The time between two requests for the metrics of the processes.
    private static let metricsInterval: Duration = .seconds(1)

    /// Signalled when the server listens and the subscription is live.
    let ready = Latch()
    private let configuration: Configuration
    private let bus: EventBus
    private let requests: MetricsRequests
    private let hub: Hub
    private let browsers: BrowserSignIn
    private let assets: Assets
    private let screens: AppScreens?
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// - Parameter screens: The screens with view models. Nil if no screen has a view model.
    /// - Throws: ``GatewayError`` if the page or the folder of the state cannot be used.
    init(
        _ configuration: Configuration, bus: EventBus, screens: AppScreens? = nil, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(GatewayError) {
        self.configuration = configuration
        self.bus = bus
        self.screens = screens
        self.logger = logger
        self.clock = clock
        requests = MetricsRequests(bus: bus, clock: clock)
        assets = try Assets(folder: configuration.page)
        let key: HMAC.Key
        do {
            key = try configuration.folder.makeKey()
        } catch {
            throw .state(error.description)
        }
        browsers = BrowserSignIn(stack: configuration.stack, key: key, used: UsedLinks(configuration.folder))
        let start = ContinuousClock.now
        let identity = Hub.Identity(
            run: String(UInt32.random(in: 0 ... .max), radix: 16), stack: configuration.stack,
            isReadOnly: configuration.isReadOnly)
        hub = Hub(identity) { ContinuousClock.now - start }
    }

    /// Serves requests until the task is cancelled or the service is asked to stop.
    /// - Throws: ``GatewayError`` if the server cannot listen, and the errors of the bus.
    func run() async throws {
        let (listening, following) = (AsyncStream.makeStream(of: Int.self), Latch())
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                defer { listening.continuation.finish() }
                try await serve { listening.continuation.yield($0) }
                return .server
            }
            group.addTask {
                try await follow(following)
                return .other
            }
            group.addTask {
                guard let port = await listening.stream.first(where: { _ in true }) else { return .other }
                try await announce(port)
                try await following.waitUntilOpen()
                ready.open()
                return .other
            }
            group.addTask {
                try await watchBus()
                return .other
            }
            group.addTask {
                await runDevices()
                return .other
            }
            group.addTask {
                try await countSeconds()
                return .other
            }
            group.addTask {
                try await countDeadLetters()
                return .other
            }
            group.addTask {
                try await askForMetrics()
                return .other
            }
            group.addTask {
                // The server waits for open requests, and a stream is a request that does not end by itself.
                try await gracefulShutdown()
                await hub.close()
                return .other
            }
            while let part = try await group.next(), part != .server {}
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError where !Task.isCancelled {}
        }
    }

    private enum Part {
        case server, other
    }

    // MARK: The server

    private func serve(_ onListening: @escaping @Sendable (Int) -> Void) async throws {
        let routes = GatewayRoutes(
            hub: hub, bus: bus, requests: requests, browsers: browsers, assets: assets,
            scraping: BearerToken(token: configuration.metricsToken),
            // With another name, the gateway is probably behind a proxy, so the address does not tell who asks.
            scrapingIsOpen: configuration.metricsToken != nil
                || AllowedHosts.isLoopback(configuration.address) && configuration.allowedHosts.isEmpty,
            version: configuration.version, screens: screens, isReadOnly: configuration.isReadOnly, logger: logger,
            clock: clock)
        let hosts = AllowedHosts(listening: configuration.address, allowed: configuration.allowedHosts)
        let application = HTTPServer.application(
            Router.gateway(routes).buildResponder(), address: configuration.address, port: configuration.port,
            hosts: hosts, limits: configuration.limits, logger: logger,
            refuse: { Answers.restricted(RequestError($0).response) }, onListening: onListening)
        do {
            try await application.run()
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE {
                throw GatewayError.portInUse(configuration.address, configuration.port)
            }
            let reason = String(cString: strerror(error.errnoCode))
            throw GatewayError.cannotListen(configuration.address, configuration.port, reason: reason)
        }
    }

    /// Tells people and `segue open` the address. It contains no secret.
    private func announce(_ port: Int) async throws {
        let host = AllowedHosts.isWildcard(configuration.address) ? "127.0.0.1" : configuration.address
        let url = "http://\(AllowedHosts.host(host)):\(port)"
        let address = PageFolder.Address(url: url, stack: configuration.stack, pid: getpid())
        let folder = configuration.folder
        // The thread pool writes the file, because writing would block a thread of the cooperative pool.
        try await NIOThreadPool.singleton.runIfActive { try folder.store(address) }
        if !AllowedHosts.isLoopback(configuration.address) {
            logger.warning(
                "listening on \(configuration.address): other machines can reach this page, and nothing is encrypted")
        }
        logger.notice("listening", metadata: ["url": "\(url)"])
        Notifier().notify(NotifyMessage(status: url))
    }

    // MARK: The bus

    /// Passes all messages of the bus to the hub.
    private func follow(_ following: Latch) async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock).run {
            let end = try await bus.inspect.end()
            let documents = try await bus.documents(matching: Self.documents)
            let start = await hub.begin(at: end, documents)
            let (notices, noting) = AsyncStream.makeStream(
                of: SubscriptionNotice.self, bufferingPolicy: .bufferingNewest(64))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await notice in notices { await hub.handle(notice) } }
                group.addTask {
                    try await bus.withSubscription(
                        to: [.all], from: .after(start), until: nil, onNotice: { noting.yield($0) }
                    ) { messages in
                        following.open()
                        for try await delivery in messages.deliveries {
                            requests.handle(delivery.message)
                            await hub.handle(delivery)
                        }
                    }
                    throw BusError(.closed, "the bus was closed")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// The documents about processes, flows and sessions, with which happenings are told, too.
    private static let documents: [MessageFilter] = [
        .type(Document.Presence.self), .type(Document.Flow.self), .type(Document.NavigationState.self),
        .type(Document.ErrorBanner.self), .type(Document.ServiceContract.self),
    ]

    /// Runs the devices that the page opens.
    private func runDevices() async {
        await withDiscardingTaskGroup { group in
            for await device in hub.opened {
                group.addTask {
                    await withDiscardingTaskGroup { parts in
                        parts.addTask { await device.run() }
                        parts.addTask { await device.publish() }
                    }
                    await hub.deviceHasEnded()
                }
            }
        }
    }

    /// Tells the hub if the bus answers.
    private func watchBus() async throws {
        while true {
            do {
                try await bus.waitUntilConnected(timeout: Self.busTimeout)
                await hub.setConnected(true)
            } catch let error as BusError where error.code == .unavailable {
                await hub.setConnected(false)
            }
            try await clock.sleep(for: Self.busInterval)
        }
    }

    /// Ends each second in the figures. It does not use the bus: a slow answer would lengthen the second.
    private func countSeconds() async throws {
        while true {
            try await clock.sleep(for: .seconds(1))
            await hub.tick()
        }
    }

    /// Asks the processes for their metrics, while a page shows them.
    private func askForMetrics() async throws {
        while true {
            let instances = await hub.shownInstances
            if !instances.isEmpty { await hub.setMetrics((try? await requests.ask(instances)) ?? [:]) }
            try await clock.sleep(for: Self.metricsInterval)
        }
    }

    /// Counts the dead letters from time to time, while their number is needed.
    private func countDeadLetters() async throws {
        while true {
            try await clock.sleep(for: .seconds(1))
            guard await hub.needsDeadLetters, await hub.isBusConnected else { continue }
            if let count = try? await bus.inspect.deadLetterCount(of: nil) { await hub.setDeadLetters(count) }
            try await clock.sleep(for: Self.letterPause)
        }
    }
}
