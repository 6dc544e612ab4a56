internal import Consuming
internal import EventBus
internal import Logging
public import ServiceLifecycle
internal import SystemSupport
internal import UnixSignals

/// Runs the services of a process in one group. The services start in order and stop in reverse order, so that the bus
/// stops last.
struct ServiceHost: Sendable {
    /// The maximum time for all services to stop. After this time the remaining services are cancelled.
    static let grace: Duration = .seconds(8)

    private let services: [any Service]
    private let logger: Logger

    /// The host of a process that uses the bus.
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

    /// The host of a process that does not use the bus.
    init(
        logger: Logger, services: [any Service], notifier: Notifier = Notifier(),
        watchdog: Watchdog? = Watchdog(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        let notice = ReadinessNotice(ready: services.readySignals, notifier: notifier, logger: logger)
        let all = [notice] + services + [StoppingNotice(notifier: notifier)]
        self.services = all.watched(watchdog, besides: [], notifier: notifier, clock: clock)
        self.logger = logger
    }

    /// - Parameter signals: the signals that stop the process gracefully.
    func run(signals: [UnixSignal] = []) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: StoppableService(service: $0),
                    successTerminationBehavior: $0 is any ForegroundService ? .gracefullyShutdownGroup : .cancelGroup,
                    serviceName: Self.name(of: $0))
            },
            gracefulShutdownSignals: signals, logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.grace
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as BusError where error.code == .fenced {
            throw BusError(.fenced, "\(error.message); stop one of the two processes")
        } catch is ServiceGroupError {
            throw EarlyEnd(description: "one of its services ended before the process was asked to stop")
        } catch is CancellationError where !Task.isCancelled {
            throw EarlyEnd(
                description:
                    "a service was cancelled or did not stop within \(Self.grace); unfinished work is repeated later")
        }
        logger.info("stopped")
    }

    /// The name of the service's type.
    private static func name(of service: any Service) -> String {
        String(describing: type(of: service))
    }
}

extension [any Service] {
    /// The ready signals of the services that have one.
    fileprivate var readySignals: [ReadySignal] {
        compactMap { ($0 as? any ReadyService)?.ready }
    }

    /// The services, and a ``LifeSign`` if the supervisor watches the process.
    /// - Parameter actors: actors that must answer, in addition to those of the services.
    fileprivate func watched(
        _ watchdog: Watchdog?, besides actors: [any Actor], notifier: Notifier, clock: any Clock<Duration>
    ) -> [any Service] {
        guard let watchdog else { return self }
        let owners = compactMap { ($0 as? any ThreadedService)?.owner as (any Actor)? }
        return self + [LifeSign(watchdog: watchdog, actors: actors + owners, notifier: notifier, clock: clock)]
    }
}

/// A service whose cancellation, after it was asked to stop, is its normal end.
///
/// The group takes any error as a failure and cancels all other services. A service that needs too long to stop is
/// cancelled itself; its cancellation stays an error.
private struct StoppableService: Service {
    let service: any Service

    func run() async throws {
        do {
            try await service.run()
        } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {
            // The part of the service that was cancelled has ended as it was asked to.
        }
    }
}

/// Runs the bus. This service is the first of the group, and so the last one to be stopped.
struct BusService: Service {
    let bus: any EventBus

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await bus.run() }
    }
}

/// Tells the supervisor that a process without a bus is ready, as soon as all of its services are ready.
struct ReadinessNotice: Service {
    let ready: [ReadySignal]
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for signal in ready { try await signal.wait() }
            logger.info("ready")
            notifier.notify(.ready)
        }
        try await gracefulShutdown()
    }
}

/// Tells the supervisor that the process stops. In the group, this service comes after the services of the process, and
/// so it is stopped before them.
struct StoppingNotice: Service {
    let notifier: Notifier

    func run() async throws {
        try await gracefulShutdown()
        notifier.notify(.stopping)
    }
}

/// A service that a person or a script uses directly, for example in a terminal. When its `run()` returns, the process
/// stops gracefully, with success. Any other service must run until the process is asked to stop: if its `run()`
/// returns earlier, the process fails.
public protocol ForegroundService: Service {}

/// An error of the process that none of its services threw.
struct EarlyEnd: Error, CustomStringConvertible {
    let description: String
}
