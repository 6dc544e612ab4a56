internal import ArgumentParser
internal import Compose
internal import Foundation

/// Which project a verb concerns, by its name or by its compose file.
struct StackOptions: ParsableArguments, Sendable {
    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve() throws -> Project {
        try project.resolve(files: files.files, environmentFiles: files.envFile)
    }

    /// - Throws: ``ComposeError`` `no-project`, when nothing is known of it.
    func savedStack(of project: Project) throws -> Stack {
        if let stack = try project.savedStack() { return stack }
        throw CommandError.neverStarted(project)
    }
}

extension CommandError {
    static func neverStarted(_ project: Project) -> CommandError {
        CommandError(
            code: "no-project", "project '\(project.name)' was never started here",
            recovery: "start it with 'segue up', or name another one with -p")
    }
}

/// Which compose files a command reads, and what of them takes part.
struct ComposeFileOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: ArgumentHelp(
            "A compose file, '-' for standard input; each overrides those before it. Without it: compose.yaml, with "
                + "compose.override.yaml, or compose/default.yaml in this folder.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with variables for the compose files, instead of .env beside the first one.", valueName: "file"))
    var envFile: [String] = []

    @Option(
        help: ArgumentHelp(
            "Take services of this profile, too; '*' is all. Without it: those in SEGUE_PROFILES or COMPOSE_PROFILES.",
            valueName: "name"))
    var profile: [String] = []

    /// The files that are named, or else found in the working directory.
    ///
    /// - Throws: ``CommandError`` when there is none.
    func paths() throws -> [String] {
        if !files.isEmpty { return files }
        let found = ComposeFile.find(in: ".")
        guard !found.isEmpty else {
            throw CommandError(
                code: "no-compose-file", "there is no compose file in \(FileManager.default.currentDirectoryPath)",
                recovery: "name one with -f FILE", status: .noInput)
        }
        return found.map { String($0.dropFirst("./".count)) }
    }

    /// Reads the files, and warns of variables that are not set.
    ///
    /// - Throws: ``CommandError``; ``ComposeError``, ``ComposeFileError``.
    func read() async throws -> ComposeFile {
        let file = try ComposeFile(paths: paths(), environmentFiles: envFile)
        for variable in file.unsetVariables {
            await Console.error.tell("\(file.path): the variable \(variable) is not set; it is taken as empty")
        }
        return file
    }

    /// What of a file takes part in a run.
    ///
    /// - Parameter services: those that are asked for by name; none is all of the active profiles.
    /// - Throws: ``ComposeError``.
    func stack(of file: ComposeFile, services: [String] = []) throws(ComposeError) -> Stack {
        try file.stack.selecting(services, profiles: profile.isEmpty ? file.profiles : profile)
    }
}

/// Which project a command means, when no compose file is asked for by name.
struct ProjectOptions: ParsableArguments, Sendable {
    @Option(
        name: [.short, .customLong("project-name")],
        help: ArgumentHelp(
            "The project. Without it: the one that the compose file names, else its folder's name.", valueName: "name"))
    var project: String?

    /// - Parameters:
    ///   - files: the compose files; without one, the folder's own say the name.
    ///   - environmentFiles: what the name may refer to, instead of `.env`.
    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve(files: [String] = [], environmentFiles: [String] = []) throws -> Project {
        if let project { return try Project(name: ProjectName.resolve(flag: project, directory: "")) }
        let current = FileManager.default.currentDirectoryPath
        let files = files.isEmpty ? ComposeFile.find(in: current) : files
        guard let file = files.first else {
            return try Project(name: ProjectName.resolve(flag: nil, directory: current))
        }
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent().standardizedFileURL.path
        let name = try ComposeFile.projectName(in: files, environmentFiles: environmentFiles)
        return try Project(name: ProjectName.resolve(flag: nil, file: name, directory: directory))
    }
}

/// What processes are granted that have to end.
struct GraceOption: ParsableArguments, Sendable {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "How long each may take to end before it is killed. Without it: its stop_grace_period.",
            valueName: "seconds"))
    var timeout: Int?

    func validate() throws {
        try Self.check(timeout)
    }

    static func check(_ timeout: Int?) throws {
        guard let timeout, !(0...86_400).contains(timeout) else { return }
        throw ValidationError("-t is \(timeout); it has to be 0 to 86400")
    }

    var grace: Duration? { timeout.map { .seconds($0) } }
}
