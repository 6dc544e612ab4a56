package import ArgumentParser
internal import Compose

package struct UpCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Starts the services of a compose file, and keeps them up.",
        discussion: "In the foreground, Ctrl-C stops them in order; once more, at once.")

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Flag(name: [.short, .customLong("detach")], help: "Leave the services to themselves once they are launched.")
    var detached = false

    @Flag(help: "Leave them to themselves once all are ready.")
    var wait = false

    package init() {}

    package func run() async throws {
        let path = try files.path()
        let file = try ComposeFile(path: path)
        let project = try project.resolve(file: path)
        for variable in file.unsetVariables {
            await Console.error.tell("\(path): the variable \(variable) is not set; it is taken as empty")
        }
        if detached || wait {
            try await DetachedStack(project: project, path: path).start(until: wait ? .ready : .launched)
        } else {
            try await ForegroundStack(stack: file.stack, project: project).run()
        }
    }
}
