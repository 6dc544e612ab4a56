internal import Consuming
package import EventBus
internal import Foundation
package import HTTPOperations
internal import Hummingbird
package import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
package import SignIn
internal import Sodium
package import Support
internal import SystemSupport

/// The gateway of the browser page: an HTTP server with the features of the page.
package struct Gateway: ReadyService {
    package struct Configuration: Sendable {
        package var address = "127.0.0.1"
        /// With 0 the system chooses a free port.
        package var port = 0
        package var allowedHosts: [String] = []
        package var isReadOnly = false
        /// The token of `/metrics`. Without one, only programs on this machine may read the metrics, and nobody if the
        /// gateway has further hosts.
        package var metricsToken: String?
        /// The folder of the key, the address and the used links.
        package var folder: PageFolder
        /// The name of the stack.
        package var stack = "segue"
        /// The folder of the page's files. Nil for those beside the program.
        package var page: String?
        package var version = "0.1.0"
        package var limits = ConnectionLimits()

        package init(folder: PageFolder) {
            self.folder = folder
        }
    }

    /// The time between two checks that the bus answers.
    private static let busInterval: Duration = .seconds(2)
    private static let busTimeout: Duration = .seconds(3)

    /// Opened when the server listens and all features are ready.
    package let ready = Latch()
    private let configuration: Configuration
    private let bus: EventBus
    private let hub: Hub
    private let browsers: BrowserSignIn
    private let assets: Assets
    private let features: [any PageFeature]
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// - Parameter features: Makes the features of the page.
    /// - Throws: ``GatewayError`` if the page or the folder of the state cannot be used.
    package init(
        _ configuration: Configuration, bus: EventBus, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        features: (PageEnvironment) -> [any PageFeature]
    ) throws(GatewayError) {
        self.configuration = configuration
        self.bus = bus
        self.logger = logger
        self.clock = clock
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
        self.features = features(
            PageEnvironment(hub: hub, bus: bus, version: configuration.version, logger: logger, clock: clock))
    }

    /// Serves requests until the task is cancelled or the service is asked to stop.
    /// - Throws: ``GatewayError`` if the server cannot listen, and the errors of the bus.
    package func run() async throws {
        let listening = AsyncStream.makeStream(of: Int.self)
        let features = features.map { (feature: $0, ready: Latch()) }
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                defer { listening.continuation.finish() }
                try await serve { listening.continuation.yield($0) }
                return .server
            }
            for (feature, ready) in features {
                group.addTask {
                    try await feature.run(ready)
                    return .other
                }
            }
            group.addTask {
                guard let port = await listening.stream.first(where: { _ in true }) else { return .other }
                try await announce(port)
                for (_, ready) in features { try await ready.waitUntilOpen() }
                ready.open()
                return .other
            }
            group.addTask {
                try await watchBus()
                return .other
            }
            group.addTask {
                try await watchStreams()
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

    /// The operations of the server, without those of the page's files.
    package var operations: [HTTPOperation] { router.operations }

    /// The kinds of views, and the browsers that may open them.
    package var viewKinds: [String: PageAudience] {
        features.reduce(into: [:]) { $0.merge($1.kinds) { first, _ in first } }
    }

    private var router: Router<GatewayContext> {
        let routes = GatewayRoutes(
            hub: hub, browsers: browsers, assets: assets, features: features, clock: clock)
        let token = TokenRequirement(
            browsers: browsers, token: configuration.metricsToken,
            // With another name, the gateway is probably behind a proxy, so the address does not tell who asks.
            isOpen: configuration.metricsToken != nil
                || AllowedHosts.isLoopback(configuration.address) && configuration.allowedHosts.isEmpty)
        return Router.gateway(routes, token: token)
    }

    private func serve(_ onListening: @escaping @Sendable (Int) -> Void) async throws {
        let hosts = AllowedHosts(listening: configuration.address, allowed: configuration.allowedHosts)
        let application = HTTPServer.application(
            router.buildResponder(), address: configuration.address,
            port: configuration.port, hosts: hosts, limits: configuration.limits, logger: logger,
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

    // MARK: The bus and the streams

    /// Tells the hub if the bus answers.
    private func watchBus() async throws {
        while true {
            do {
                try await bus.waitUntilConnected(timeout: Self.busTimeout)
                await hub.setConnected(true)
            } catch let error as BusError where [.unavailable, .denied].contains(error.code) {
                // Servers of NATS may accept the key later.
                await hub.setConnected(false)
            }
            try await clock.sleep(for: Self.busInterval)
        }
    }

    /// Removes streams that have ended, and wakes silent connections.
    private func watchStreams() async throws {
        while true {
            try await clock.sleep(for: .seconds(1))
            await hub.tick()
        }
    }
}
