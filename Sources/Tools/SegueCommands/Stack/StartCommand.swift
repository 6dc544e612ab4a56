package import ArgumentParser
internal import Compose

package struct StartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Starts services that were stopped or have ended, and what they depend on.")

    @OptionGroup var stack: StackOptions

    @Argument(help: "These services; without any: all.")
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        try await StackControl(project: project).perform(.start(services: services)) {
            try await DetachedStack(
                project: project, stack: stack.savedStack(of: project), selection: Selection(services)
            )
            .start(until: .ready)
        }
    }
}
