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
        let file = try await files.read()
        let stack = try files.stack(of: file)
        let project = try project.resolve(files: files.paths())
        if detached || wait {
            try await DetachedStack(project: project, path: file.path).start(until: wait ? .ready : .launched)
        } else {
            try await ForegroundStack(stack: stack, project: project).run()
        }
    }
}
