public import ArgumentParser
internal import CommandLineSupport
package import Consuming
public import Contracts
public import EventBus
internal import FlowFiles
public import Foundation
public import Logging
public import Navigation
public import ServiceLifecycle
internal import Support
internal import SystemSupport
public import Transports
internal import UnixSignals

/// The description of an executable: its name, and the messages that it receives and sends. ``run(_:bus:services:)``
/// runs it. The description of a program that consists of handlers follows from them, see ``ServiceProgram``.
public struct ServiceProcess: Sendable {
    public let name: String
    public let version: String
    /// The id of this run. By default it is random.
    public let instance: String
    /// The messages that the process receives.
    public let receives: [DeclaredMessage]
    /// The messages that the process publishes.
    public let sends: [DeclaredMessage]
    /// The durable consumers that the process can run. Nil for one consumer with the process's name.
    public let consumers: [String]?
    /// The types of the messages that the handler of each type sends. Nil if they are not declared.
    package var handlers: [String: [String]]?
    /// The log level if `SEGUE_LOG_LEVEL` is not set or is empty.
    public let logLevel: Logger.Level
    /// True if the process has secrets in its memory, such as tokens. It then leaves no core dump.
    public var holdsSecrets = false
    /// Creates the log handler of each logger. Nil to write log lines to standard error.
    package var logHandler: (@Sendable (_ label: String) -> any LogHandler)?

    public init(
        _ name: String, version: String = "0.1.0",
        instance: String = String(UUID().uuidString.lowercased().prefix(8)),
        receives: [DeclaredMessage], sends: [DeclaredMessage], consumers: [String]? = nil,
        logLevel: Logger.Level = .info
    ) {
        self.name = name
        self.version = version
        self.instance = instance
        self.receives = receives
        self.sends = sends
        self.consumers = consumers
        self.logLevel = logLevel
    }

    /// Creates the description of a process whose messages all have Swift types.
    public init(
        _ name: String, version: String = "0.1.0",
        instance: String = String(UUID().uuidString.lowercased().prefix(8)),
        receives: [any Message.Type] = [], sends: [any Message.Type] = [], consumers: [String]? = nil,
        logLevel: Logger.Level = .info
    ) {
        self.init(
            name, version: version, instance: instance, receives: receives.map { DeclaredMessage($0) },
            sends: sends.map { DeclaredMessage($0) }, consumers: consumers, logLevel: logLevel)
    }

    /// Creates the description of a process that consists of handlers.
    package init(
        _ name: String, _ handlers: [Handlers], version: String = "0.1.0",
        instance: String = String(UUID().uuidString.lowercased().prefix(8)), logLevel: Logger.Level = .info
    ) {
        let consumers = handlers.filter { !$0.consumes.isEmpty }.map(\.name)
        self.init(
            name, version: version, instance: instance, receives: handlers.flatMap(\.receives).eachOnce,
            sends: handlers.flatMap(\.sends).eachOnce, consumers: consumers == [name] ? nil : consumers,
            logLevel: logLevel)
        var sends: [String: [String]] = [:]
        for (type, sent) in handlers.flatMap(\.sendsByHandler) {
            sends[type.description] = Set(sends[type.description] ?? []).union(sent.map(\.description)).sorted()
        }
        self.handlers = sends
    }

    /// The CloudEvents source of the process's messages: `name/instance`.
    public var source: String { "\(name)/\(instance)" }

    /// Runs the process until SIGTERM or SIGINT, until a ``ForegroundService`` returns, or until an error. It connects
    /// to the bus, announces itself, runs the services and tells the supervisor when all of them are ready. At the end
    /// it stops the services in reverse order.
    ///
    /// The bus answers only while the services run. Use it in their `run()`, and not in the closure that creates them.
    ///
    /// - Parameters:
    ///   - options: the options of the command line.
    ///   - bus: creates the bus.
    ///   - services: creates the services.
    /// - Throws: `ExitCode`, after the error has been written to standard error: one line, or one for each invalid
    ///   setting.
    public func run(
        _ options: ServiceOptions, bus: BusFactory = .standard,
        services: @Sendable (ServiceContext) async throws -> [any Service]
    ) async throws {
        if options.contract.isAsked { return try printContract() }
        try await main { configuration, logger in
            let context = try makeContext(options, bus: bus, configuration: configuration, logger: logger)
            try await ServiceHost(context: context, services: try await services(context))
                .run(signals: [.sigterm, .sigint])
        }
    }

    /// Runs a process that does not use the bus, for example the broker. Logging, readiness and stopping are those of
    /// ``run(_:bus:services:)``.
    ///
    /// - Parameters:
    ///   - contract: the option `--contract`.
    ///   - services: creates the services.
    /// - Throws: `ExitCode`, after the error has been written to standard error: one line, or one for each invalid
    ///   setting.
    public func runAlone(
        _ contract: ContractOption,
        services: @Sendable (ServiceConfiguration, Logger) async throws -> [any Service]
    ) async throws {
        if contract.isAsked { return try printContract() }
        try await main { configuration, logger in
            try await ServiceHost(logger: logger, services: try await services(configuration, logger))
                .run(signals: [.sigterm, .sigint])
        }
    }

    /// Runs the whole of a process: sets its log up, then runs `body` with the settings and the logger of the process.
    /// - Throws: `ExitCode`, after the error of `body` has been written to standard error: one line, or one for each
    ///   invalid setting.
    package func main(_ body: (ServiceConfiguration, Logger) async throws -> Void) async throws {
        do {
            let configuration = ServiceConfiguration()
            let level = try configuration.logLevel(standard: logLevel)
            LoggingSystem.bootstrap { [logHandler] label in
                var handler = logHandler?(label) ?? StreamLogHandler(label: label, stream: StandardError())
                handler.logLevel = level
                return handler
            }
            if holdsSecrets || configuration.value(KeyFilePlace.variable) != nil { try CoreDumps.disable() }
            try await body(configuration, Logger(label: name))
        } catch {
            let failure = error as? ProgramFailure
            let cause = failure?.error ?? error
            let errors: [any Error] = (cause as? ConfigurationErrors)?.errors ?? [cause]
            let place = failure.map { "\(name): \($0.program)" } ?? name
            Self.report(errors.map { "\(place): \(Self.line(about: $0))" })
            throw ExitStatus(of: cause).exitCode
        }
    }

    func makeContext(
        _ options: ServiceOptions, bus: BusFactory, configuration: ServiceConfiguration, logger: Logger
    ) throws -> ServiceContext {
        for name in [name, instance] where !ServiceName.isValid(name) {
            throw ConfigurationError("'\(name)' is not the name of a process", recovery: ServiceName.rule)
        }
        let address = try options.busAddress(configuration)
        return ServiceContext(
            process: self,
            bus: try bus.bus(at: address, source: source, isInsecure: options.insecure, logger: logger),
            busAddress: address, configuration: configuration, logger: logger)
    }

    static func line(about error: any Error) -> String {
        "\(error)".onOneLine
    }

    /// The contract: the messages that the process receives and sends.
    /// - Parameter instance: the id of the running process. Nil for `--contract`.
    /// - Throws: `SchemaError` if the schema of a message cannot be derived.
    func contract(instance: String? = nil) throws -> Document.ServiceContract {
        Document.ServiceContract(
            name: name, version: version, instance: instance, receives: try receives.map { try $0.contract() },
            sends: try sends.map { try $0.contract() }, consumers: consumers, handlers: handlers)
    }

    /// Prints the contract as JSON on standard output, for `--contract`.
    func printContract() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text: Data
        do {
            text = try encoder.encode(try contract())
        } catch {
            Self.report(["\(name): \(Self.line(about: error))"])
            throw ExitStatus.software.exitCode
        }
        try PrintedText.write(String(decoding: text, as: UTF8.self), for: name)
    }

    /// Reads the flow file that is given to a process at its start.
    /// - Parameter file: the path of a YAML file.
    /// - Throws: the exit status if the file cannot be read or the flow is invalid, after the errors have been written
    ///   to standard error.
    public static func readFlow(_ file: String) throws -> Flow { try readFlowFile(file).flow }

    /// Reads a flow file as ``readFlow(_:)`` does. Returns the flow and the text of the file.
    package static func readFlowFile(_ file: String) throws -> (flow: Flow, source: String) {
        let yaml: String
        do {
            yaml = try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            let advice = "give the path of a flow, such as config/flows/ios.yaml"
            throw refuse(["\(file): cannot be read: \(error.localizedDescription); \(advice)"])
        }
        do {
            return (try Flow(yaml: yaml, file: file), yaml)
        } catch {
            throw refuse(error.findings.map(\.description))
        }
    }

    /// Writes the reasons why the process cannot start to standard error, one in each line.
    /// - Returns: the exit status, to be thrown.
    public static func refuse(_ reasons: [String]) -> ExitCode {
        report(reasons)
        return ExitStatus.configuration.exitCode
    }

    static func report(_ lines: [String]) {
        StandardError.write(lines)
    }
}

extension [any Message.Type] {
    /// The messages without repetitions, in the same order.
    fileprivate var eachOnce: Self {
        var types: Set<MessageType> = []
        return filter { types.insert($0.type).inserted }
    }
}

/// The exit statuses of a process, from sysexits.h.
enum ExitStatus: Int32 {
    case unavailable = 69
    case software = 70
    /// The journal cannot be opened, written or read, or another broker uses it.
    case ioError = 74
    /// The broker does not accept the key of the process, or the key does not allow what the process does.
    case noPermission = 77
    case configuration = 78

    init(of error: any Error) {
        switch error {
        case is ConfigurationError, is ConfigurationErrors: self = .configuration
        case let error as BusError where [.address, .key].contains(error.code): self = .configuration
        case let error as BusError where [.denied, .forbidden].contains(error.code): self = .noPermission
        case let error as BusError where error.code == .unavailable: self = .unavailable
        case let error as BusError where error.code == .journal: self = .ioError
        default: self = .software
        }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}
