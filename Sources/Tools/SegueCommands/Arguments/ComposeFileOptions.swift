internal import ArgumentParser
internal import Compose
internal import Foundation

/// Which compose files a command reads, and what of them takes part.
struct ComposeFileOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: ArgumentHelp(
            "A compose file, '-' for standard input; each overrides those before it. Without it: compose.yaml, with "
                + "compose.override.yaml, or compose/default.yaml in this folder.", valueName: "file"))
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
