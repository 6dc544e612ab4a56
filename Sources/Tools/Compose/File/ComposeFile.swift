import Foundation
import Projects
import Support

/// A stack that is read from YAML files in the format of the compose specification.
package struct ComposeFile: Sendable {
    /// The path of the first file, as the caller named it.
    package let path: String
    /// The stack, with the services of all profiles. ``Stack/selecting(_:profiles:)`` reduces it to the services that
    /// take part in a run.
    package let stack: Stack
    /// Names of variables that are used as `$V` or `${V}` and are not set. Each became an empty string.
    package let unsetVariables: [String]
    /// The profiles that the environment activates, in `SEGUE_PROFILES` or, if that variable is not set, in
    /// `COMPOSE_PROFILES`.
    package let profiles: [String]
    /// The locations of the keys that are checked when a service starts.
    private let locations: [ServiceKey: ComposeLocation]

    /// - Parameters:
    ///   - paths: the files; each file overrides the files before it.
    ///   - environment: the values of `${…}`; they take precedence over `.env` in the folder of the first file.
    /// - Throws: ``ComposeFileError`` with all mistakes; ``ComposeError`` if one of these files cannot be read.
    package init(
        paths: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let sources = try ComposeSources(paths: paths, environment: environment)
        self = try sources.file(project: sources.projectName())
    }

    package init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        try self.init(paths: [path], environment: environment)
    }

    /// - Parameters:
    ///   - path: the file name for error messages.
    ///   - directory: the absolute path of the folder in which relative paths start.
    package init(text: String, path: String, directory: String, environment: [String: String]) throws {
        let file = ComposePath(shown: path, absolute: ComposePath.join(directory, path))
        let reading = ComposeReading(
            texts: [.init(path: file, text: text)], directory: ComposePath(shown: "", absolute: directory),
            environment: ComposeEnvironment(environment), findings: ComposeFindings())
        try self.init(reading)
    }

    init(_ reading: ComposeReading) throws(ComposeFileError) {
        let stack = reading.stack()
        try reading.findings.throwMistakes()
        self.stack = stack
        path = reading.texts.first?.path.shown ?? ""
        locations = reading.findings.locations
        unsetVariables = reading.findings.unset.sorted()
        profiles = (reading.environment["SEGUE_PROFILES"] ?? reading.environment["COMPOSE_PROFILES"] ?? "")
            .split(scalar: ",").map { String($0.trimmed) }
    }

    /// Runs `body`, and adds the file and line to an error that a service's entry causes.
    ///
    /// - Throws: the errors of `body`.
    package func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as ComposeError { throw placed(error) }
    }

    private func placed(_ error: ComposeError) -> ComposeError {
        // A key that the entry leaves out can be at fault, too. Then the error names the line of the command.
        guard let key = error.key,
            let location = locations[key] ?? locations[ServiceKey(service: key.service, name: "command")]
        else { return error }
        var placed = error
        placed.message = "\(location.file):\(location.line): \(error.message)"
        return placed
    }

    /// The compose files of a folder: the first of the names that `docker compose` looks for, with the override file
    /// beside it, or else `compose/default.yaml`.
    ///
    /// - Returns: the paths of the files; empty if there is none.
    package static func find(in directory: String) -> [String] {
        ProjectPlace.composeFiles(in: directory)
    }
}
