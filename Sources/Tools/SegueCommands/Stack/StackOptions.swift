internal import ArgumentParser
internal import Compose

/// Which project a verb concerns, by its name or by its compose file.
struct StackOptions: ParsableArguments, Sendable {
    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve() throws -> Project {
        try project.resolve(files: files.files)
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
