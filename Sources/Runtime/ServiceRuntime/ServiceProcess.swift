public import ArgumentParser
public import Contracts
public import EventBus
internal import FlowFiles
public import Foundation
public import Logging
internal import MessageSchema
public import Navigation
public import ServiceLifecycle
public import Transports
internal import UnixSignals

/// What an executable is: its name, and the messages it receives and sends. ``run(_:bus:services:)`` is all the rest.
///
///     try await ServiceProcess("music-service", receives: [Command.PlaylistSelected.self], sends: […])
///         .run(options) { process in [MessageConsumer("music-service", in: process).on(…) { … }] }
public struct ServiceProcess: Sendable {
    public let name: String
    public let version: String
    /// Tells this incarnation of the process from others of the same name.
    public let instance: String
    /// What it listens to.
    public let receives: [DeclaredMessage]
    /// What it publishes.
    public let sends: [DeclaredMessage]
    /// How much it logs unless `SEGUE_LOG_LEVEL` says otherwise.
    public let logLevel: Logger.Level

    public init(
        _ name: String, version: String = "0.1.0",
        instance: String = String(UUID().uuidString.lowercased().prefix(8)),
        receives: [DeclaredMessage], sends: [DeclaredMessage], logLevel: Logger.Level = .info
    ) {
        self.name = name
        self.version = version
        self.instance = instance
        self.receives = receives
        self.sends = sends
        self.logLevel = logLevel
    }

    /// A process that has a struct of every message that it receives and sends.
    public init(
        _ name: String, version: String = "0.1.0",
        instance: String = String(UUID().uuidString.lowercased().prefix(8)),
        receives: [any Message.Type] = [], sends: [any Message.Type] = [], logLevel: Logger.Level = .info
    ) {
        self.init(
            name, version: version, instance: instance, receives: receives.map { DeclaredMessage($0) },
            sends: sends.map { DeclaredMessage($0) }, logLevel: logLevel)
    }

    /// The CloudEvents source of what it publishes.
    public var source: String { "\(name)/\(instance)" }

    /// Runs the process until SIGTERM or SIGINT, or until a ``ForegroundService`` ends: connects to the bus, announces
    /// itself, runs the services, says that it is ready once they are, and stops all of it in reverse order.
    ///
    /// The bus answers only once the services run: use it in their `run()`, not in the closure that makes them.
    ///
    /// - Parameters:
    ///   - options: the arguments of the command line.
    ///   - bus: the transport.
    ///   - services: makes the services.
    /// - Throws: `ExitCode`, after one line on standard error that says what is wrong.
    public func run(
        _ options: ServiceOptions, bus: BusFactory = .standard,
        services: @Sendable (ServiceContext) async throws -> [any Service]
    ) async throws {
        if options.contract.isAsked { return try printContract() }
        try await host { configuration, logger in
            let context = try makeContext(options, bus: bus, configuration: configuration, logger: logger)
            return ServiceHost(context: context, services: try await services(context))
        }
    }

    /// Runs a process that is not on the bus, such as the broker itself: the same logging, readiness and stopping.
    ///
    /// - Parameters:
    ///   - contract: whether only its contract is asked for.
    ///   - services: makes the services.
    /// - Throws: `ExitCode`, after one line on standard error that says what is wrong.
    public func runAlone(
        _ contract: ContractOption,
        services: @Sendable (ServiceConfiguration, Logger) async throws -> [any Service]
    ) async throws {
        if contract.isAsked { return try printContract() }
        try await host { configuration, logger in
            ServiceHost(logger: logger, services: try await services(configuration, logger))
        }
    }

    private func host(_ make: (ServiceConfiguration, Logger) async throws -> ServiceHost) async throws {
        do {
            let configuration = ServiceConfiguration()
            let level = try configuration.logLevel(standard: logLevel)
            LoggingSystem.bootstrap { label in
                var handler = StreamLogHandler.standardError(label: label)
                handler.logLevel = level
                return handler
            }
            try await make(configuration, Logger(label: name)).run(signals: [.sigterm, .sigint])
        } catch {
            let errors: [any Error] = (error as? ConfigurationErrors)?.errors ?? [error]
            Self.report(errors.map { "\(name): \(Self.line(about: $0))" })
            throw ExitStatus(of: error).exitCode
        }
    }

    func makeContext(
        _ options: ServiceOptions, bus: BusFactory, configuration: ServiceConfiguration, logger: Logger
    ) throws -> ServiceContext {
        let address = try options.busAddress(configuration)
        return ServiceContext(
            process: self, bus: try bus.bus(at: address, source: source, logger: logger), busAddress: address,
            configuration: configuration, logger: logger)
    }

    static func line(about error: any Error) -> String {
        "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// What it receives and sends.
    /// - Parameter instance: the process that says so; none where only its executable is asked.
    /// - Throws: `SchemaError` when it cannot be told what a message carries.
    func contract(instance: String? = nil) throws -> Document.ServiceContract {
        Document.ServiceContract(
            name: name, version: version, instance: instance, receives: try receives.map { try $0.contract() },
            sends: try sends.map { try $0.contract() })
    }

    /// Answers `--contract`: JSON on standard output, and nothing else.
    func printContract() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            FileHandle.standardOutput.write(try encoder.encode(try contract()) + Data("\n".utf8))
        } catch {
            Self.report(["\(name): \(Self.line(about: error))"])
            throw ExitStatus.software.exitCode
        }
    }

    /// Reads the flow that a process is started with.
    /// - Parameter file: the path of a YAML file.
    /// - Throws: the status to end with, when the flow cannot be used; what is wrong is on standard error by then.
    public static func readFlow(_ file: String) throws -> Flow { try readFlowFile(file).flow }

    /// Reads the flow that a process is started with, and its text, as ``readFlow(_:)`` does.
    package static func readFlowFile(_ file: String) throws -> (flow: Flow, source: String) {
        let yaml: String
        do {
            yaml = try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            let advice = "name a flow such as config/flows/ios.yaml"
            throw refuse(["\(file): cannot be read, \(advice): \(error.localizedDescription)"])
        }
        do {
            return (try Flow(yaml: yaml, file: file), yaml)
        } catch {
            throw refuse(error.findings.map(\.description))
        }
    }

    /// Writes to standard error why the process cannot start, each reason a line.
    /// - Returns: the status to end with, for `throw`.
    public static func refuse(_ reasons: [String]) -> ExitCode {
        report(reasons)
        return ExitStatus.configuration.exitCode
    }

    static func report(_ lines: [String]) {
        FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}

/// How a process ends: the statuses of sysexits.h, so that a supervisor can tell what a restart cannot mend.
enum ExitStatus: Int32 {
    case unavailable = 69
    case software = 70
    /// The journal cannot be written or read.
    case ioError = 74
    case configuration = 78

    init(of error: any Error) {
        switch error {
        case is ConfigurationError, is ConfigurationErrors: self = .configuration
        case let error as BusError where error.code == .address: self = .configuration
        case let error as BusError where error.code == .unavailable: self = .unavailable
        case let error as BusError where error.code == .journal: self = .ioError
        default: self = .software
        }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}
