internal import Consuming
internal import EventBus
internal import Logging
public import ServiceLifecycle
internal import SystemSupport
internal import UnixSignals

/// Runs a process's services in one group. Services start in order and stop in reverse: the bus outlives all others.
struct ServiceHost: Sendable {
    /// After this the services are cancelled. Supervisors commonly grant ten seconds before they kill.
    static let grace: Duration = .seconds(8)

    private let services: [any Service]
    private let logger: Logger

    /// The host of a process on the bus.
    init(
        context: ServiceContext, services: [any Service], notifier: Notifier = Notifier(),
        watchdog: Watchdog? = Watchdog(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        let announcement = Announcement(
            context: context, ready: services.readySignals, notifier: notifier, clock: clock)
        let all = [BusService(bus: context.bus), announcement] + services + [StoppingNotice(notifier: notifier)]
        let bus = (context.bus as? any Actor).map { [$0] } ?? []
        self.services = all.watched(watchdog, besides: bus, notifier: notifier, clock: clock)
        logger = context.logger
    }

    /// The host of a process that is not on the bus.
    init(
        logger: Logger, services: [any Service], notifier: Notifier = Notifier(),
        watchdog: Watchdog? = Watchdog(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        let notice = ReadinessNotice(ready: services.readySignals, notifier: notifier, logger: logger)
        let all = [notice] + services + [StoppingNotice(notifier: notifier)]
        self.services = all.watched(watchdog, besides: [], notifier: notifier, clock: clock)
        self.logger = logger
    }

    /// - Parameter signals: those that stop the process gracefully.
    func run(signals: [UnixSignal] = []) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0,
                    successTerminationBehavior: $0 is any ForegroundService ? .gracefullyShutdownGroup : .cancelGroup,
                    serviceName: Self.name(of: $0))
            },
            gracefulShutdownSignals: signals, logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.grace
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as BusError where error.code == .fenced {
            throw BusError(.fenced, "\(error.message); stop one of the two")
        } catch is ServiceGroupError {
            throw EarlyEnd(description: "one of its services ended though nobody had asked it to")
        } catch is CancellationError where !Task.isCancelled {
            throw EarlyEnd(
                description: "it did not stop within \(Self.grace); what was at hand is repeated at the next start")
        }
        logger.info("stopped")
    }

    /// Its type's name: the group would write all that a service holds to the log.
    private static func name(of service: any Service) -> String {
        String(describing: type(of: service))
    }
}

extension [any Service] {
    /// The signals of those that are not ready as soon as they run.
    fileprivate var readySignals: [ReadySignal] {
        compactMap { ($0 as? any ReadyService)?.ready }
    }

    /// With a sign of life of them all, if the supervisor asks for one.
    fileprivate func watched(
        _ watchdog: Watchdog?, besides actors: [any Actor], notifier: Notifier, clock: any Clock<Duration>
    ) -> [any Service] {
        guard let watchdog else { return self }
        let owners = compactMap { ($0 as? any ThreadedService)?.owner as (any Actor)? }
        return self + [LifeSign(watchdog: watchdog, actors: actors + owners, notifier: notifier, clock: clock)]
    }
}

/// Drives the bus. It is the first of the group, and so the last to be stopped.
struct BusService: Service {
    let bus: any EventBus

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await bus.run() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // This is how a bus ends.
        }
    }
}

/// Tells the supervisor of a process that is not on the bus that it is ready, once its services are.
struct ReadinessNotice: Service {
    let ready: [ReadySignal]
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                for signal in ready { try await signal.wait() }
                logger.info("ready")
                notifier.notify(.ready)
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            return
        }
        try await gracefulShutdown()
    }
}

/// Tells the supervisor that the process is about to stop. It is the last of the group, and so the first to hear of it.
struct StoppingNotice: Service {
    let notifier: Notifier

    func run() async throws {
        try await gracefulShutdown()
        notifier.notify(.stopping)
    }
}

/// A service that a person or a script uses directly, such as one in a terminal: when it returns there is nothing left
/// to do, and the process stops gracefully, with success. Any other service runs until the process is asked to stop,
/// and its early end is a failure.
public protocol ForegroundService: Service {}

/// The process ended in a way that none of its services gives a reason for.
struct EarlyEnd: Error, CustomStringConvertible {
    let description: String
}
