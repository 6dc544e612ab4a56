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
