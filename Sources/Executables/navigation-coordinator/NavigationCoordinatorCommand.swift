import ArgumentParser
import Contracts
import Coordinator
import ServiceRuntime

@main
struct NavigationCoordinatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "navigation-coordinator",
        abstract: "Runs a flow: decides which screens a platform shows, in response to messages.",
        discussion: "navigation-coordinator --bus ipc:///tmp/bus --flow config/flows/ios.yaml")

    @OptionGroup var options: ServiceOptions

    @Option(help: "The path of the flow, a YAML file such as config/flows/ios.yaml.")
    var flow: String

    func run() async throws {
        let (flow, source) = try ServiceProcess.readFlowFile(flow)
        let process = ServiceProcess(
            "navigation-coordinator", receives: flow.receives.map { DeclaredMessage($0, in: flow) },
            sends: flow.sends.map { DeclaredMessage($0, in: flow) })
        try await process.run(options) { process in
            [
                Coordinator(
                    flow: flow, source: source, bus: process.bus, logger: process.logger, metrics: process.metrics)
            ]
        }
    }
}
