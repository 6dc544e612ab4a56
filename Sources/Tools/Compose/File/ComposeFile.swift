import Foundation
import OrderedCollections
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
    /// The places of the keys that are checked when a service starts.
    private let places: [ServiceKey: ComposePlace]

    /// - Parameters:
    ///   - paths: the files; each file overrides the files before it. `-` is standard input. Relative paths in these
    ///     files start in the folder of the first file.
    ///   - environmentFiles: the files that replace `.env` in the folder of the first file; empty to use `.env`.
    ///   - environment: the values of `${…}`; they take precedence over the env files.
    /// - Throws: ``ComposeFileError`` with all mistakes; ``ComposeError`` if one of these files cannot be read.
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
    ///   - path: the file name for error messages.
    ///   - directory: the absolute path of the folder in which relative paths start.
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
        guard let key = error.key, let place = places[key] ?? places[ServiceKey(service: key.service, name: "command")]
        else { return error }
        var placed = error
        placed.message = "\(place.file):\(place.line): \(error.message)"
        return placed
    }

    /// The project name that the files set; nil if they set none.
    ///
    /// Only `name` is read. Mistakes in the values of other keys are not reported.
    ///
    /// - Throws: ``ComposeError`` if a file cannot be read; ``ComposeFileError`` if a file is not a YAML mapping or the
    ///   name is invalid.
    package static func projectName(
        in paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String? {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        // This is a separate collection, because mistakes in env files do not matter here.
        let findings = ComposeFindings()
        let names = reading.texts.compactMap { file -> ComposeNode? in
            guard let root = ComposeTreeBuilder.parse(file.text, file: file.path.shown, findings: findings) else {
                return nil
            }
            let source = ComposeSource(
                name: file.path.shown, directory: reading.directory, environment: reading.environment)
            var builder = ComposeTreeBuilder(source: source, findings: findings, offered: [])
            return builder.file(root) { $0 == "name" }.entries?["name"]?.value
        }
        let name = names.last.flatMap { ComposeReader(findings: findings).name($0) }
        try findings.throwMistakes()
        return name
    }

    /// The compose files of a folder: the first of the names that `docker compose` looks for, with the override file
    /// beside it, or else `compose/default.yaml`.
    ///
    /// - Returns: the paths of the files; empty if there is none.
    package static func find(in directory: String) -> [String] {
        ProjectPlace.composeFiles(in: directory)
    }

    /// The compose files that a command in this folder uses if its options name none: those of `COMPOSE_FILE`, or else
    /// of the nearest folder that has any, from `directory` upwards.
    ///
    /// - Returns: absolute paths; empty if there is none.
    package static func find(
        from directory: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        ProjectPlace.composeFiles(from: directory, environment: environment)
    }

    /// The variables that a stack's files refer to, sorted by name. Required variables may be unset.
    ///
    /// - Throws: ``ComposeError`` if one of these files cannot be read; ``ComposeFileError`` if no service can be read.
    package static func variables(
        in paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> [ComposeVariable] {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        if reading.stack().services.isEmpty { try reading.findings.throwMistakes() }
        return reading.findings.variables.values.sorted { $0.name < $1.name }
    }
}

/// The files of a stack and their environment, with the mistakes found so far.
private struct ComposeReading {
    let texts: [ComposeLoader.Text]
    let directory: ComposePath
    let environment: ComposeEnvironment
    let findings: ComposeFindings

    init(
        _ texts: [ComposeLoader.Text], directory: ComposePath, environment: ComposeEnvironment,
        findings: ComposeFindings = ComposeFindings()
    ) {
        self.texts = texts
        self.directory = directory
        self.environment = environment
        self.findings = findings
    }

    /// - Throws: ``ComposeError`` `compose-file-unreadable`, `environment-file-unreadable`.
    init(paths: [String], environmentFiles: [String], environment: [String: String]) throws(ComposeError) {
        let findings = ComposeFindings()
        let texts = try paths.map { path throws(ComposeError) in try Self.text(of: path, "compose", flag: "-f") }
        let files = try environmentFiles.map { path throws(ComposeError) in
            try Self.text(of: path, "environment", flag: "--env-file")
        }
        let directory = texts.first?.path.directory ?? Self.current
        let process = ComposeEnvironment(environment)
        self.init(
            texts, directory: directory,
            environment: files.isEmpty
                ? process.adding(usualFileIn: directory, findings: findings)
                : process.adding(files, findings: findings),
            findings: findings)
    }

    /// The stack. Invalid parts are missing from it; ``findings`` contains the mistakes.
    func stack() -> Stack {
        let loader = ComposeLoader(findings: findings)
        let project = loader.open(texts, directory: directory, environment: environment)
        let names = project.ports.compactMap(\.scalar?.text)
        let tree = loader.tree(of: project, offered: OfferedVariables.names(ports: names))
        return tree.map { loader.reader.stack($0, of: project, directory: directory.absolute) }
            ?? Stack(directory: directory.absolute, services: [])
    }

    /// - Parameters:
    ///   - kind: the kind of file for the error: `compose` or `environment`.
    ///   - flag: the option that names such a file.
    private static func text(of path: String, _ kind: String, flag: String) throws(ComposeError) -> ComposeLoader.Text {
        let place = ComposePath(shown: path, absolute: current.resolving(path).absolute)
        do {
            return ComposeLoader.Text(path: place, text: try ComposeText.read(path == "-" ? path : place.absolute))
        } catch {
            let isThere = path == "-" || FileManager.default.fileExists(atPath: place.absolute)
            let usual =
                isThere ? "it must be UTF-8 text that you may read" : "name an existing file with \(flag)"
            throw ComposeError(
                code: "\(kind)-file-unreadable", message: "cannot read the \(kind) file \(path)",
                recovery: error.hint ?? usual)
        }
    }

    private static var current: ComposePath {
        ComposePath(shown: "", absolute: FileManager.default.currentDirectoryPath)
    }
}
