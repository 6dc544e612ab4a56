package import ArgumentParser
internal import Compose

package struct RestartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Restarts services, in the order of their dependencies.",
        discussion: "Services that depend on them with 'restart: true' are restarted, too.")

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Flag(help: "Leave the services alone that depend on them.")
    var noDeps = false

    @Flag(help: "Only tell what would be restarted.")
    var dryRun = false

    @Argument(help: "These services; without any: all.")
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.restart(services: services, followed: !noDeps, grace: grace.grace)
        try await StackControl(project: project, isRehearsal: dryRun).perform(request) {
            let saved = try stack.savedStack(of: project)
            if dryRun { return await Console.error.tell("project '\(project.name)' does not run: all would start") }
            try await DetachedStack(
                project: project, stack: saved, selection: try project.lastSelection(adding: services)
            )
            .start(until: .ready)
        }
    }
}
