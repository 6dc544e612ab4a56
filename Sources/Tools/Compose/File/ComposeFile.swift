import Foundation

/// Reads stacks from YAML files of the compose specification.
package struct ComposeFile: Sendable {
    /// The first file's, as it was named.
    package let path: String
    /// With the services of all profiles; ``Stack/selecting(_:profiles:)`` leaves those that take part.
    package let stack: Stack
    /// Variables that the files refer to, are not set and have no default; each was taken as empty.
    package let unsetVariables: [String]
    /// The profiles that the environment asks for: `SEGUE_PROFILES`, else `COMPOSE_PROFILES`.
    package let profiles: [String]
    /// Where the keys of services stand that may turn out to be wrong only when these start.
    let places: [ServiceKey: ComposePlace]

    /// - Parameters:
    ///   - paths: each file overrides those before it; `-` is standard input. Relative paths in all of them start in
    ///     the folder of the first.
    ///   - environmentFiles: what is used instead of `.env` in that folder.
    ///   - environment: what `${…}` refers to; it wins over the env files.
    /// - Throws: ``ComposeFileError`` with every mistake; ``ComposeError`` when a file cannot be read.
    package init(
        paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        try self.init(reading)
    }

    package init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        try self.init(paths: [path], environment: environment)
    }

    /// - Parameters:
    ///   - path: what mistakes name as their file.
    ///   - directory: where relative paths start, absolute.
    package init(text: String, path: String, directory: String, environment: [String: String]) throws {
        let file = ComposePath(shown: path, absolute: ComposePath.join(directory, path))
        let reading = ComposeReading(
            [.init(path: file, text: text)], directory: ComposePath(shown: "", absolute: directory),
            environment: ComposeEnvironment(environment))
        try self.init(reading)
    }

    private init(_ reading: ComposeReading) throws(ComposeFileError) {
        let stack = reading.stack()
        try reading.findings.throwMistakes()
        self.stack = stack
        path = reading.texts.first?.path.shown ?? ""
        places = reading.findings.places
        unsetVariables = reading.findings.unset.sorted()
        profiles = (reading.environment["SEGUE_PROFILES"] ?? reading.environment["COMPOSE_PROFILES"] ?? "")
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
