package import ArgumentParser
internal import Compose

package struct KillCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "kill", abstract: "Sends a signal to the processes of services.",
        discussion:
            "What becomes of a service that it ends is up to its restart policy; 'stop' is for those that shall stay down."
    )

    @OptionGroup var stack: StackOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The signal, by name or number.", valueName: "signal"))
    var signal = "SIGKILL"

    @Argument(help: "These services; without any: all.")
    var services: [String] = []

    package init() {}

    package func validate() throws {
        guard StopSignal(signal) != nil else { throw ValidationError("there is no signal '\(signal)'") }
    }

    package func run() async throws {
        let project = try stack.resolve()
        let number = StopSignal(signal)?.number ?? 0
        guard try await ControlClient(project: project).send(.kill(services: services, signal: number)) != nil else {
            throw CommandError(
                code: "not-running", "nobody supervises project '\(project.name)'",
                recovery: "'segue down' ends what may be left of it")
        }
    }
}
