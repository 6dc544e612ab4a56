import Foundation

/// Reads stacks from YAML files of the compose specification.
package struct ComposeFile: Sendable {
    /// The first file's, as it was named.
    package let path: String
    /// With the services of all profiles; ``Stack/selecting(_:profiles:)`` leaves those that take part.
    package let stack: Stack
    /// Variables that the files refer to, are not set and have no default; each was taken as empty.
    package let unsetVariables: [String]
    /// By name: all that the files refer to.
    package let variables: [ComposeVariable]
    /// The profiles that the environment asks for: `SEGUE_PROFILES`, else `COMPOSE_PROFILES`.
    package let profiles: [String]

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
        let findings = ComposeFindings()
        let texts = try paths.map { path throws(ComposeError) in try Self.text(of: path) }
        let directory = texts[0].path.directory
        let process = ComposeEnvironment(environment)
        let files = try environmentFiles.map { path throws(ComposeError) in try Self.text(of: path, "environment") }
        let environment =
            files.isEmpty
            ? process.adding(usualFileIn: directory, findings: findings) : process.adding(files, findings: findings)
        try self.init(texts, directory: directory, environment: environment, findings: findings)
    }

    package init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        try self.init(paths: [path], environment: environment)
    }

    /// - Parameters:
    ///   - path: what mistakes name as their file.
    ///   - directory: where relative paths start, absolute.
    package init(text: String, path: String, directory: String, environment: [String: String]) throws {
        let file = ComposePath(shown: path, absolute: ComposePath.join(directory, path))
        try self.init(
            [.init(path: file, text: text)], directory: ComposePath(shown: "", absolute: directory),
            environment: ComposeEnvironment(environment), findings: ComposeFindings())
    }

    private init(
        _ texts: [ComposeLoader.Text], directory: ComposePath, environment: ComposeEnvironment,
        findings: ComposeFindings
    ) throws(ComposeFileError) {
        let loader = ComposeLoader(findings: findings)
        let project = loader.open(texts, directory: directory, environment: environment)
        let names = project.ports.compactMap(\.scalar?.text)
        let tree = loader.tree(of: project, offered: OfferedVariables.names(ports: names))
        let stack = tree.map { loader.reader.stack($0, ports: project.ports, directory: directory.absolute) }
        try findings.throwMistakes()
        self.stack = stack ?? Stack(directory: directory.absolute, services: [])
        path = texts.first?.path.shown ?? ""
        unsetVariables = findings.unset.sorted()
        variables = findings.variables.values.sorted { $0.name < $1.name }
        profiles = (environment["SEGUE_PROFILES"] ?? environment["COMPOSE_PROFILES"] ?? "")
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    static func text(of path: String, _ kind: String = "compose") throws(ComposeError) -> ComposeLoader.Text {
        let current = FileManager.default.currentDirectoryPath
        let place = ComposePath(shown: path, absolute: ComposePath.join(current, path))
        guard let text = ComposeText.read(path == "-" ? path : place.absolute) else {
            throw ComposeError(
                code: "\(kind)-file-unreadable", message: "cannot read the \(kind) file \(path)",
                recovery: "name an existing file with \(kind == "compose" ? "-f" : "--env-file")")
        }
        return ComposeLoader.Text(path: place, text: text)
    }
}
