public import ArgumentParser
internal import Configuration
public import Foundation
internal import Logging

/// The settings of a process: its environment variables.
public struct ServiceConfiguration: Sendable {
    private let environment: EnvironmentVariablesProvider

    /// The environment of this process.
    public init() {
        environment = EnvironmentVariablesProvider()
    }

    /// - Parameter environment: the variables to read instead of the process's own.
    public init(environment: [String: String]) {
        self.environment = EnvironmentVariablesProvider(environmentVariables: environment)
    }

    /// The value of a variable; nil if it is not set, or empty.
    public func value(_ name: String) -> String? {
        // The provider reads a dictionary: its `throws` is for stores that can fail.
        guard let value = try? environment.environmentValue(forName: name), !value.isEmpty else { return nil }
        return value
    }

    /// The value of a variable that the process cannot do without.
    /// - Throws: ``ConfigurationError`` that names the variable.
    public func require(_ name: String) throws -> String {
        guard let value = value(name) else {
            throw ConfigurationError("\(name) is not set", recovery: "set it in the environment of this process")
        }
        return value
    }

    /// The folder where a process of this name keeps its state: `SEGUE_STATE_DIR/name`, made with access for its owner
    /// only if it does not exist.
    /// - Throws: ``ConfigurationError`` if `SEGUE_STATE_DIR` is not set or the folder cannot be made.
    public func stateDirectory(for name: String) throws -> URL {
        let root = URL(fileURLWithPath: try require("SEGUE_STATE_DIR"), isDirectory: true)
        let directory = root.appendingPathComponent(name, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ConfigurationError(
                "the folder \(directory.path) cannot be made: \(error.localizedDescription)",
                recovery: "let SEGUE_STATE_DIR name a folder that this user may write to")
        }
        return directory
    }

    /// How much is logged: `SEGUE_LOG_LEVEL`, or `standard` if that is not set.
    func logLevel(standard: Logger.Level = .info) throws -> Logger.Level {
        guard let text = value("SEGUE_LOG_LEVEL") else { return standard }
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError("SEGUE_LOG_LEVEL is '\(text)'", recovery: "set it to one of \(levels)")
        }
        return level
    }
}

/// The options that every service has.
public struct ServiceOptions: ParsableArguments, Sendable {
    @Option(help: "The bus, such as ipc:///run/segue or tcp://host:port. Without it, SEGUE_BUS names it.")
    public var bus: String?

    @OptionGroup public var contract: ContractOption

    public init() {}

    /// Where the bus is: `--bus`, else `SEGUE_BUS`.
    /// - Throws: ``ConfigurationError`` when neither is given.
    public func busAddress(_ configuration: ServiceConfiguration) throws -> String {
        guard let address = bus ?? configuration.value("SEGUE_BUS") else {
            throw ConfigurationError(
                "no bus is given", recovery: "set SEGUE_BUS, or use --bus, as in --bus ipc:///run/segue")
        }
        return address
    }
}

/// The option of every service to tell what it receives and sends, instead of running.
public struct ContractOption: ParsableArguments, Sendable {
    @Flag(name: .customLong("contract"), help: "Print what it receives and sends, as JSON, and end.")
    public var isAsked = false

    public init() {}
}

/// A setting that is missing or cannot be used. The process ends with status 78.
public struct ConfigurationError: Error, Hashable, Sendable {
    public static let code = "service.configuration"

    /// One line: which setting is wrong.
    public let message: String
    /// One line: what to do about it.
    public let recovery: String

    public init(_ message: String, recovery: String) {
        self.message = message
        self.recovery = recovery
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { "\(message); \(recovery)" }
}

/// All settings that are missing or cannot be used, found in one reading: each is reported as a line of its own.
public struct ConfigurationErrors: Error, Hashable, Sendable {
    public let errors: [ConfigurationError]

    public init(_ errors: [ConfigurationError]) {
        self.errors = errors
    }
}
