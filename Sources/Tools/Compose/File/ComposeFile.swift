import Foundation
import OrderedCollections
import Projects

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
    private let places: [ServiceKey: ComposePlace]

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

    /// Does something with the stack of the files.
    ///
    /// - Throws: what `body` throws; an error that lies in a service's entry with the file and line of that.
    package func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as ComposeError { throw placed(error) }
    }

    private func placed(_ error: ComposeError) -> ComposeError {
        // What is left out may be at fault, too; a command is always there.
        guard let key = error.key, let place = places[key] ?? places[ServiceKey(service: key.service, name: "command")]
        else { return error }
        var placed = error
        placed.message = "\(place.file):\(place.line): \(error.message)"
        return placed
    }

    /// The project's name that a stack's files give, if they do. To stop a stack or to watch it, the rest of its files
    /// need not be right, nor the variables set that they require.
    ///
    /// - Throws: as the initialiser does.
    package static func projectName(
        in paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String? {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        // What is wrong with an env file is no matter here.
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

    /// The first of the usual names that exists in a folder, as `docker compose` looks for it, with the override file
    /// beside it; then the default of a folder that has several stacks.
    ///
    /// - Returns: nothing when there is none.
    package static func find(in directory: String) -> [String] {
        ProjectPlace.composeFiles(in: directory)
    }

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

/// One reading of a stack's files.
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

    /// - Throws: ``ComposeError`` when one of the files cannot be read.
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

    /// With gaps where there are mistakes, which ``findings`` has.
    func stack() -> Stack {
        let loader = ComposeLoader(findings: findings)
        let project = loader.open(texts, directory: directory, environment: environment)
        let names = project.ports.compactMap(\.scalar?.text)
        let tree = loader.tree(of: project, offered: OfferedVariables.names(ports: names))
        return tree.map { loader.reader.stack($0, of: project, directory: directory.absolute) }
            ?? Stack(directory: directory.absolute, services: [])
    }

    /// - Parameters:
    ///   - kind: what a person names it as.
    ///   - flag: the option for that.
    private static func text(of path: String, _ kind: String, flag: String) throws(ComposeError) -> ComposeLoader.Text {
        let place = ComposePath(shown: path, absolute: current.resolving(path).absolute)
        do {
            return ComposeLoader.Text(path: place, text: try ComposeText.read(path == "-" ? path : place.absolute))
        } catch {
            let isThere = path == "-" || FileManager.default.fileExists(atPath: place.absolute)
            let usual =
                isThere ? "it has to be UTF-8 text that you may read" : "name an existing file with \(flag)"
            throw ComposeError(
                code: "\(kind)-file-unreadable", message: "cannot read the \(kind) file \(path)",
                recovery: error.hint ?? usual)
        }
    }

    private static var current: ComposePath {
        ComposePath(shown: "", absolute: FileManager.default.currentDirectoryPath)
    }
}
