import Foundation
import OrderedCollections
import Projects
import Support

/// The compose files and the env files of a project, as a command line and the environment select them.
///
/// As in docker compose, the variables of env files can also select the compose files (`COMPOSE_FILE`) and name the
/// project (`COMPOSE_PROJECT_NAME`).
package struct ComposeSources {
    /// The paths of the compose files; each file overrides the files before it. `-` is standard input. Empty if none is
    /// named and no folder has any.
    package let paths: [String]
    private let current: ComposePath
    /// The folder in which the relative paths of the compose files start: that of the first file.
    private let directory: ComposePath
    private let environment: ComposeEnvironment
    /// Contains the mistakes in the env files.
    private let findings = ComposeFindings()

    /// - Parameters:
    ///   - paths: the compose files that the command line names. If it names none, `COMPOSE_FILE` does, or else they
    ///     are the files of the current folder, or of the nearest folder above it that has any.
    ///   - environmentFiles: the env files that the command line names. If it names none, `COMPOSE_ENV_FILES` does, or
    ///     else they are `.env` in the folder of the first compose file and, unless the command line names compose
    ///     files, `.env` in the current folder.
    ///   - environment: variables that take precedence over the env files.
    ///   - current: the absolute path of the folder in which these paths start; nil for that of this process.
    /// - Throws: ``ComposeError`` `environment-file-unreadable`, `no-current-folder`.
    package init(
        paths: [String] = [], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment, current: String? = nil
    ) throws(ComposeError) {
        let folder = if let current { current } else { try Self.currentFolder() }
        let current = ComposePath(shown: "", absolute: folder)
        var variables = ComposeEnvironment(environment)
        let named = environmentFiles.isEmpty ? ProjectPlace.environmentFiles(in: environment) : environmentFiles
        let files = try named.map { path throws(ComposeError) in try Self.text(of: path, in: current, .environment) }
        variables = variables.fillingIn(from: files, findings: findings)
        if files.isEmpty, paths.isEmpty { variables = variables.fillingIn(dotEnvIn: current, findings: findings) }
        let found =
            paths.isEmpty ? ProjectPlace.composeFiles(from: current.absolute, environment: variables.values) : []
        // A file in the current folder is named without the folder, as the user would.
        self.paths = paths + found.map { $0.removing(prefix: "\(current.absolute)/").map(String.init) ?? $0 }
        self.current = current
        directory = self.paths.first.map { Self.location(of: $0, in: current).directory } ?? current
        if files.isEmpty, !paths.isEmpty || directory.absolute != current.absolute {
            variables = variables.fillingIn(dotEnvIn: directory, findings: findings)
        }
        self.environment = variables
    }

    /// The name of the project: that of `COMPOSE_PROJECT_NAME`, else of the compose files, else of their folder.
    ///
    /// Of the compose files only `name` is read. Mistakes in the values of other keys are not reported.
    ///
    /// - Throws: ``ComposeError`` if a file cannot be read, or `invalid-project-name`; ``ComposeFileError`` if a file
    ///   is not a YAML mapping or the name in it is invalid.
    package func projectName() throws -> String {
        let given = ProjectPlace.projectName(in: environment.values)
        return try ProjectName.resolve(
            flag: given, file: given == nil ? writtenName() : nil, directory: directory.absolute)
    }

    private func writtenName() throws -> String? {
        // Mistakes in env files do not matter here.
        let findings = ComposeFindings()
        let names = try texts().compactMap { file -> ComposeNode? in
            guard let root = ComposeTreeBuilder.parse(file.text, file: file.path.shown, findings: findings) else {
                return nil
            }
            let source = ComposeSource(name: file.path.shown, directory: directory, environment: environment)
            var builder = ComposeTreeBuilder(source: source, findings: findings, offered: [])
            return builder.file(root) { $0 == "name" }.entries?["name"]?.value
        }
        let name = names.last.flatMap { ComposeReader(findings: findings).name($0) }
        try findings.throwMistakes()
        return name
    }

    /// Reads the compose files.
    ///
    /// - Parameter project: the name of the project, which is the value of `${COMPOSE_PROJECT_NAME}` in the files.
    /// - Throws: ``ComposeFileError`` with all mistakes; ``ComposeError`` if one of these files cannot be read.
    package func file(project: String) throws -> ComposeFile {
        try ComposeFile(reading(project))
    }

    /// The variables that the compose files refer to, sorted by name. Required variables may be unset.
    ///
    /// - Throws: ``ComposeError`` if a file cannot be read; ``ComposeFileError`` if no service can be read.
    package func variables(project: String) throws -> [ComposeVariable] {
        let reading = try reading(project)
        if reading.stack().services.isEmpty { try reading.findings.throwMistakes() }
        return reading.findings.variables.values.sorted { $0.name < $1.name }
    }

    private func reading(_ project: String) throws(ComposeError) -> ComposeReading {
        var variables = environment
        variables.set(ProjectPlace.nameVariable, to: project, from: "project")
        return try ComposeReading(texts: texts(), directory: directory, environment: variables, findings: findings)
    }

    private func texts() throws(ComposeError) -> [ComposeLoader.Text] {
        try paths.map { path throws(ComposeError) in try Self.text(of: path, in: current, .compose) }
    }

    private enum Kind: String {
        case compose, environment

        /// The option that names such a file.
        var flag: String { self == .compose ? "-f" : "--env-file" }
    }

    private static func text(
        of path: String, in current: ComposePath, _ kind: Kind
    ) throws(ComposeError) -> ComposeLoader.Text {
        let location = location(of: path, in: current)
        do {
            return ComposeLoader.Text(
                path: location, text: try ComposeText.read(path == "-" ? path : location.absolute))
        } catch {
            throw ComposeError(
                code: "\(kind)-file-unreadable", message: "cannot read the \(kind) file \(path)",
                recovery: error.recovery ?? "name an existing file with \(kind.flag)")
        }
    }

    private static func location(of path: String, in current: ComposePath) -> ComposePath {
        ComposePath(shown: path, absolute: current.resolving(path).absolute)
    }

    private static func currentFolder() throws(ComposeError) -> String {
        let path = FileManager.default.currentDirectoryPath
        if !path.isEmpty { return path }
        throw ComposeError(
            code: "no-current-folder", message: ProjectPlace.removedFolder(ProcessInfo.processInfo.environment),
            recovery: "change to another folder, or name the project with -p")
    }
}

/// The texts of a stack's compose files and their environment, with the mistakes found so far.
struct ComposeReading {
    let texts: [ComposeLoader.Text]
    let directory: ComposePath
    let environment: ComposeEnvironment
    let findings: ComposeFindings

    /// The stack. Invalid parts are missing from it; ``findings`` contains the mistakes.
    func stack() -> Stack {
        let loader = ComposeLoader(findings: findings)
        let project = loader.open(texts, directory: directory, environment: environment)
        let names = project.ports.compactMap(\.scalar?.text)
        let tree = loader.tree(of: project, offered: OfferedVariables.names(ports: names))
        return tree.map { loader.reader.stack($0, of: project, directory: directory.absolute) }
            ?? Stack(directory: directory.absolute, services: [])
    }
}
