import Foundation

extension ComposeFile {
    /// The variables that a stack's files refer to, by name. Those that must be set need not be yet.
    ///
    /// - Throws: as the initialiser does, but only if nothing of a file can be read.
    package static func variables(
        in paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> [ComposeVariable] {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        if reading.stack().services.isEmpty { try reading.findings.throwMistakes() }
        return reading.findings.variables.values.sorted { $0.name < $1.name }
    }
}
