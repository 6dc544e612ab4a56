public import Consuming
public import EventBus
public import Logging
public import ServiceLifecycle
public import Transports
internal import UnixSignals

/// A program with services: the description of its process, and the services that it runs.
///
/// Most programs consist of handlers. Their contract, their presence and their durable consumers follow from these:
///
///     @main struct Brewer: ServiceCommand { static let service = ServiceProgram(brewer) }
///
/// ``run(_:bus:)`` runs it as a process of its own. A ``ProgramGroup`` runs several programs in one process.
public struct ServiceProgram: Sendable {
    public let process: ServiceProcess
    package let services: @Sendable (ServiceContext) async throws -> [any Service]

    public init(
        _ process: ServiceProcess, services: @escaping @Sendable (ServiceContext) async throws -> [any Service]
    ) {
        self.process = process
        self.services = services
    }

    /// Creates a program that consists of handlers.
    /// - Parameters:
    ///   - handlers: the handlers of each durable consumer. At least one.
    ///   - name: the name of the program. By default it is that of the first handlers.
    ///   - holdsSecrets: see ``ServiceProcess/holdsSecrets``.
    ///   - prepare: called before the handlers start, for example to read settings; see ``Prepared``.
    public init(
        _ handlers: Handlers..., named name: String? = nil, version: String = "0.1.0", holdsSecrets: Bool = false,
        prepare: @escaping @Sendable (ServiceContext) async throws -> Void = { _ in }
    ) {
        self.init(handlers, named: name, version: version, holdsSecrets: holdsSecrets, prepare: prepare)
    }

    /// Creates a program that consists of handlers.
    public init(
        _ handlers: [Handlers], named name: String? = nil, version: String = "0.1.0", holdsSecrets: Bool = false,
        prepare: @escaping @Sendable (ServiceContext) async throws -> Void = { _ in }
    ) {
        precondition(!handlers.isEmpty, "a program has handlers")
        var process = ServiceProcess(name ?? handlers[0].name, handlers, version: version)
        process.holdsSecrets = holdsSecrets
        self.init(process) { context in
            try await prepare(context)
            return handlers.map { HandlerService($0, in: context) }
        }
    }

    /// Runs the program as a process of its own, as ``ServiceProcess/run(_:bus:services:)`` does.
    /// - Throws: `ExitCode`, after the error has been written to standard error.
    public func run(_ options: ServiceOptions, bus: BusFactory = .standard) async throws {
        try await process.run(options, bus: bus, services: services)
    }
}

/// The programs of an app in one process, with a bus in memory.
///
/// Each program has a handle of the bus and publishes its presence and its contract, as a process of its own does.
/// There is no supervisor that restarts a failed service: its error ends all programs.
public struct ProgramGroup: Sendable {
    private let programs: [ServiceProgram]
    private let hub: InMemoryHub
    private let configuration: ServiceConfiguration
    private let logger: @Sendable (String) -> Logger

    /// - Parameters:
    ///   - programs: The programs. Their services start in this order and stop in the reverse order.
    ///   - hub: The bus of the programs.
    ///   - configuration: The settings of all programs.
    ///   - logger: Creates the logger of a program from its name.
    public init(
        _ programs: [ServiceProgram], on hub: InMemoryHub, configuration: ServiceConfiguration,
        logger: @escaping @Sendable (String) -> Logger = { Logger(label: $0) }
    ) {
        self.programs = programs
        self.hub = hub
        self.configuration = configuration
        self.logger = logger
    }

    /// Runs the programs until the task is cancelled or asked to stop, or until a ``ForegroundService`` returns.
    /// - Parameter stopsOnSignals: True if SIGTERM and SIGINT stop the programs.
    /// - Throws: The first error of a service: a ``ProgramFailure`` if there are several programs.
    public func run(stopsOnSignals: Bool = false) async throws {
        var parts: [ServiceHost.Part] = []
        for program in programs {
            let context = ServiceContext(
                process: program.process, bus: EventBus.inMemory(source: program.process.source, hub: hub),
                busAddress: "memory:", configuration: configuration, logger: logger(program.process.name))
            do {
                parts.append(ServiceHost.Part(context: context, services: try await program.services(context)))
            } catch  where programs.count > 1 {
                throw ProgramFailure(program: program.process.name, error: error)
            }
        }
        let name = programs.last?.process.name ?? "programs"
        try await ServiceHost(parts, logger: logger(name)).run(signals: stopsOnSignals ? [.sigterm, .sigint] : [])
    }
}

/// The failure of one of several programs in a process.
public struct ProgramFailure: Error, CustomStringConvertible {
    /// The name of the program.
    public let program: String
    public let error: any Error

    public var description: String { "\(program): \(error)" }
}
