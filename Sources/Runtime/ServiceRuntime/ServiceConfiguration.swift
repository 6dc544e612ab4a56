internal import Configuration
public import Foundation
internal import Logging
internal import SystemSupport

/// The settings of a process, read from its environment variables.
public struct ServiceConfiguration: Sendable {
    private let environment: EnvironmentVariablesProvider
    /// Values that replace those of the environment.
    private var replaced: [String: String] = [:]

    /// Reads the environment of this process.
    public init() {
        environment = EnvironmentVariablesProvider()
    }

    /// - Parameter environment: the variables to read instead of the process's own.
    public init(environment: [String: String]) {
        self.environment = EnvironmentVariablesProvider(environmentVariables: environment)
    }

    /// The same settings with other values of some variables.
    package func setting(_ values: [String: String]) -> ServiceConfiguration {
        var configuration = self
        configuration.replaced.merge(values) { _, new in new }
        return configuration
    }

    /// The value of a variable. Nil if the variable is not set or is empty.
    public func value(_ name: String) -> String? {
        if let value = replaced[name] { return value.isEmpty ? nil : value }
        guard let value = try? environment.environmentValue(forName: name), !value.isEmpty else { return nil }
        return value
    }

    /// The value of a required variable.
    /// - Throws: ``ConfigurationError`` that names the variable if it is not set or is empty.
    public func require(_ name: String) throws -> String {
        guard let value = value(name) else {
            throw ConfigurationError("\(name) is not set", recovery: "set it in the environment of this process")
        }
        return value
    }

    /// The folder for the state of a process: `SEGUE_STATE_DIR/name`. If it does not exist, it is created with access
    /// for its owner only. A folder that other users can enter is refused.
    /// - Throws: ``ConfigurationError`` if `SEGUE_STATE_DIR` is not set or the folder cannot be created.
    public func stateDirectory(for name: String) throws -> URL {
        let root = URL(fileURLWithPath: try require("SEGUE_STATE_DIR"), isDirectory: true)
        let directory = root.appendingPathComponent(name, isDirectory: true)
        do {
            try PrivateFolder.make(directory.path)
        } catch {
            throw ConfigurationError(
                error.message, recovery: error.recovery ?? "set SEGUE_STATE_DIR to a folder that this user may write to"
            )
        }
        return directory
    }

    /// The log level: `SEGUE_LOG_LEVEL`, or `standard` if the variable is not set or is empty.
    /// - Throws: ``ConfigurationError`` if the variable is not the name of a log level.
    func logLevel(standard: Logger.Level = .info) throws -> Logger.Level {
        guard let text = value("SEGUE_LOG_LEVEL") else { return standard }
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(
                "SEGUE_LOG_LEVEL: '\(text)' is not a log level", recovery: "set it to one of \(levels)")
        }
        return level
    }
}

/// A setting that is missing or invalid. The process exits with status 78.
public struct ConfigurationError: Error, Hashable, Sendable {
    public static let code = "service.configuration"

    /// The setting and the problem, in one line.
    public let message: String
    /// The remedy, in one line.
    public let recovery: String

    public init(_ message: String, recovery: String) {
        self.message = message
        self.recovery = recovery
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { "\(message); \(recovery)" }
}

/// The missing and invalid settings of a process. Each setting is reported in a line of its own.
public struct ConfigurationErrors: Error, Hashable, Sendable {
    public let errors: [ConfigurationError]

    public init(_ errors: [ConfigurationError]) {
        self.errors = errors
    }
}
