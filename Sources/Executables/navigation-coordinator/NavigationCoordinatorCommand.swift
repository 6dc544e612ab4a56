import ArgumentParser
import Coordinator
import Navigation
import ServiceRuntime

@main
struct NavigationCoordinatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "navigation-coordinator",
        abstract: "Leads a platform from screen to screen, as a flow says, in answer to the messages of the bus.")

    @OptionGroup var options: ServiceOptions

    @Option(help: "The flow, a YAML file such as config/flows/ios.yaml.")
    var flow: String

    func run() async throws {
        let flow = try ServiceProcess.readFlow(flow)
        try await ServiceProcess("navigation-coordinator", receives: flow.receives, sends: flow.sends)
            .run(options) { process in
                [Coordinator(flow: flow, bus: process.bus, logger: process.logger, metrics: process.metrics)]
            }
    }
}
