internal import Consuming
internal import EventBus
internal import Logging
public import ServiceLifecycle
internal import Support
internal import SystemSupport
internal import UnixSignals

/// Runs the services of a process in one group. The services start in order and stop in reverse order, so that the bus
/// stops last.
struct ServiceHost: Sendable {
    /// The maximum time for all services to stop. After this time the remaining services are cancelled.
    static let grace: Duration = .seconds(8)

    /// The services of one program.
    struct Part {
        let context: ServiceContext
        let services: [any Service]
    }

    private let services: [StoppableService]
    private let logger: Logger

    /// The host of a process that uses the bus.
    init(
        context: ServiceContext, services: [any Service], notifier: Notifier = Notifier(),
        watchdog: Watchdog? = Watchdog(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            [Part(context: context, services: services)], notifier: notifier, watchdog: watchdog, clock: clock,
            logger: context.logger)
    }

    /// The host of several programs that run in one process. Each is announced on the bus. An error names the program
    /// if there are several.
    init(
        _ parts: [Part], notifier: Notifier = Notifier(), watchdog: Watchdog? = Watchdog(),
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        let reporters = parts.map { MetricsReporter(context: $0.context, clock: clock) }
        let announcements = zip(parts, reporters).map { part, reporter in
            Announcement(context: part.context, ready: part.services.readyLatches + [reporter.ready], clock: clock)
        }
        let notice = ReadinessNotice(ready: announcements.map(\.announced), notifier: notifier)
        let buses = parts.map { BusService(bus: $0.context.bus) as any Service }
        let own: [any Service] = buses + reporters + announcements + [notice]
        let actors = parts.compactMap { BusThread($0.context.bus) }
        let signs = parts.flatMap(\.services).lifeSigns(watchdog, besides: actors, notifier: notifier, clock: clock)
        self.services =
            own.map { StoppableService(service: $0) }
            + parts.flatMap { part in
                let program = parts.count > 1 ? part.context.process.name : nil
                return part.services.map { StoppableService(service: $0, program: program) }
            } + ([StoppingNotice(notifier: notifier)] + signs).map { StoppableService(service: $0) }
        self.logger = logger
    }

    /// The host of a process that does not use the bus.
    init(
        logger: Logger, services: [any Service], notifier: Notifier = Notifier(),
        watchdog: Watchdog? = Watchdog(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        let notice = ReadinessNotice(ready: services.readyLatches, notifier: notifier, logger: logger)
        let signs = services.lifeSigns(watchdog, besides: [], notifier: notifier, clock: clock)
        let all = [notice] + services + [StoppingNotice(notifier: notifier)] + signs
        self.services = all.map { StoppableService(service: $0) }
        self.logger = logger
    }

    /// - Parameter signals: the signals that stop the process gracefully.
    func run(signals: [UnixSignal] = []) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0,
                    successTerminationBehavior: $0.service is any ForegroundService
                        ? .gracefullyShutdownGroup : .cancelGroup,
                    serviceName: Self.name(of: $0.service))
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
    /// The latches of the services that have one.
    fileprivate var readyLatches: [Latch] {
        compactMap { ($0 as? any ReadyService)?.ready }
    }

    /// A ``LifeSign`` if the supervisor watches the process; otherwise nothing.
    /// - Parameter actors: actors that must answer, in addition to those of the services.
    fileprivate func lifeSigns(
        _ watchdog: Watchdog?, besides actors: [any Actor], notifier: Notifier, clock: any Clock<Duration>
    ) -> [any Service] {
        guard let watchdog else { return [] }
        let owners = compactMap { ($0 as? any ThreadedService)?.owner as (any Actor)? }
        return [LifeSign(watchdog: watchdog, actors: actors + owners, notifier: notifier, clock: clock)]
    }
}

/// A service whose cancellation, after it was asked to stop, is its normal end.
///
/// The group takes any error as a failure and cancels all other services. A service that needs too long to stop is
/// cancelled itself; its cancellation stays an error.
private struct StoppableService: Service {
    let service: any Service
    /// The name that errors get. Nil if the process runs only one program.
    var program: String?

    func run() async throws {
        do {
            try await service.run()
        } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {
            // The part of the service that was cancelled has ended as it was asked to.
        } catch let error where !(error is CancellationError) {
            guard let program else { throw error }
            throw ProgramFailure(program: program, error: error)
        }
    }
}

/// Runs the bus. This service is the first of the group, and so the last one to be stopped.
struct BusService: Service {
    let bus: EventBus

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await bus.run() }
    }
}

/// Tells the supervisor that a process is ready, as soon as all latches are open.
struct ReadinessNotice: Service {
    let ready: [Latch]
    let notifier: Notifier
    /// Logs that the process is ready. Nil if a process with a bus has logged it.
    var logger: Logger?

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for latch in ready { try await latch.waitUntilOpen() }
            logger?.info("ready")
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

/// The status of this process: one line for people.
public enum ServiceStatus {
    /// Tells the supervisor the status.
    public static func report(_ text: String) {
        Notifier().notify(NotifyMessage(status: text))
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
