internal import ArgumentParser
internal import Compose
internal import Foundation
internal import Projects
internal import Support

/// The options that select a project, by its name or by its compose files.
struct StackOptions: ParsableArguments, Sendable {
    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve() throws -> Project {
        try project.resolve(ComposeSources(paths: files.files, environmentFiles: files.envFile))
    }

    /// The stack with which the project was last started.
    /// - Throws: ``CommandError`` `no-project` if no stack has been saved; ``ComposeError``.
    func savedStack(of project: Project) throws -> Stack {
        if let stack = try project.savedStack() { return stack }
        throw CommandError.neverStarted(project)
    }
}

extension CommandError {
    static func neverStarted(_ project: Project) -> CommandError {
        CommandError(
            code: "no-project", "project '\(project.name)' is not known here",
            recovery: "start it with 'segue up', or name another project with -p" + RunningProjects.advice)
    }
}

/// The projects of this user that run on this machine.
enum RunningProjects {
    /// The names of the running projects, to be added to an error's advice. Empty if none runs.
    static var advice: String {
        let projects = (try? Project.all()) ?? []
        let names = projects.filter { (try? ProjectStatus.read($0))??.isSupervisorAlive ?? false }.map(\.name)
        return names.isEmpty ? "" : "; these projects are running: \(names.joined(separator: ", "))"
    }
}

/// The options that select compose files, and the services in them.
struct ComposeFileOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: ArgumentHelp(
            "A compose file; '-' reads standard input. May be repeated; a later file overrides earlier files. "
                + "(default: COMPOSE_FILE, or compose.yaml and compose.override.yaml, or compose/default.yaml, in this "
                + "folder or one above it)", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file of variables for the compose files. (default: COMPOSE_ENV_FILES, or .env in the folder of the first "
                + "compose file)",
            valueName: "file"))
    var envFile: [String] = []

    @Option(
        help: ArgumentHelp(
            "Include the services of this profile; '*' includes all. (default: SEGUE_PROFILES or COMPOSE_PROFILES)",
            valueName: "name"))
    var profile: [String] = []

    /// The files that these options and the environment select.
    ///
    /// - Throws: ``CommandError`` `no-compose-file` if there is no compose file; ``ComposeError``.
    func sources() throws -> ComposeSources {
        let sources = try ComposeSources(paths: files, environmentFiles: envFile)
        guard !sources.paths.isEmpty else {
            let current = FileManager.default.currentDirectoryPath
            throw CommandError(
                code: "no-compose-file", "there is no compose file in \(current) or in a folder above it",
                recovery: "name a compose file with -f FILE" + RunningProjects.advice, status: .noInput)
        }
        return sources
    }

    /// Reads the files, and prints a warning on standard error for each variable that is used as `$V` or `${V}` and is
    /// not set.
    ///
    /// - Throws: ``CommandError``; ``ComposeError``, ``ComposeFileError``.
    func read(_ sources: ComposeSources, project: String) async throws -> ComposeFile {
        let file = try sources.file(project: project)
        for variable in file.unsetVariables {
            await Console.error.tell("\(file.path): the variable \(variable) is not set; its value is the empty string")
        }
        return file
    }

    /// Reads the files, as ``read(_:project:)`` does, for the project that they name.
    func read() async throws -> ComposeFile {
        let sources = try sources()
        return try await read(sources, project: sources.projectName())
    }

    /// The part of a compose file that a run uses.
    ///
    /// - Parameter services: the names of the wanted services; empty for all services of the active profiles.
    /// - Throws: ``ComposeError``.
    func stack(of file: ComposeFile, services: [String] = []) throws(ComposeError) -> Stack {
        try file.stack.selecting(services, profiles: profile.isEmpty ? file.profiles : profile)
    }
}

/// The option that selects a project by its name.
struct ProjectOptions: ParsableArguments, Sendable {
    @Option(
        name: [.short, .customLong("project-name")],
        help: ArgumentHelp(
            "The project's name. (default: COMPOSE_PROJECT_NAME, else the name in the compose file, else the name of "
                + "its folder)",
            valueName: "name"))
    var project: String?

    /// - Parameter sources: the files that can name the project. They are read only if `--project-name` is not given.
    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve(_ sources: @autoclosure () throws -> ComposeSources = try ComposeSources()) throws -> Project {
        try Project(name: project ?? sources().projectName())
    }
}

/// The option that sets the time that a process has to end before it is killed, at most 86,400 seconds.
struct GraceOption: ParsableArguments, Sendable {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The time, 0 to 86400, that a process has to end before it is killed. (default: its stop_grace_period)",
            valueName: "seconds"))
    var timeout: Int?

    func validate() throws {
        try Self.check(timeout)
    }

    static func check(_ timeout: Int?) throws {
        guard let timeout, !(0...86_400).contains(timeout) else { return }
        throw ValidationError("-t is \(timeout); it has to be between 0 and 86400 seconds")
    }

    /// The time that a process has to end before it is killed. Nil if `--timeout` is not given.
    var grace: Duration? { timeout.map { .seconds($0) } }
}
