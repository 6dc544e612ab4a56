package import ArgumentParser
internal import Compose

package struct StopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stops services; they stay stopped until they are started again.",
        discussion:
            "Of those that are named, the ones that depend on others stop first. The rest of the project goes on.")

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Argument(help: "These services; without any: all.")
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.stop(services: services, grace: grace.grace)
        if try await StackControl(project: project).perform(request) { return }
        let wereLeft = try await project.stopUnsupervised(services, grace: grace.grace)
        await Console.error.tell(
            wereLeft
                ? "ended what a killed supervisor of project '\(project.name)' left"
                : "project '\(project.name)' was not running")
    }
}
