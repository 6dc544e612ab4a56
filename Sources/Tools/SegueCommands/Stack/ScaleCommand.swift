package import ArgumentParser
internal import Compose

package struct ScaleCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Says how many processes of a service there shall be.",
        discussion: "Those that run already and stay do so undisturbed.")

    @OptionGroup var stack: StackOptions

    @Argument(help: ArgumentHelp("Such as web=3.", valueName: "service=number"))
    var numbers: [Scale]

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.scale(numbers.byService)
        try await StackControl(project: project).perform(request) {
            let saved = try stack.savedStack(of: project).scaled(numbers)
            try await DetachedStack(project: project, stack: saved, selection: try project.lastSelection())
                .start(until: .ready)
        }
    }
}
