package import ArgumentParser
internal import Coordinator
internal import ServiceRuntime
internal import Support

package struct NavigationCoordinatorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "navigation-coordinator",
        abstract: "Runs a flow: decides which screens a platform shows, in response to messages.",
        discussion: "navigation-coordinator --bus ipc:///tmp/bus --flow config/flows/ios.yaml")

    @OptionGroup var options: ServiceOptions

    @Option(help: "The path of the flow, a YAML file such as config/flows/ios.yaml.")
    var flow: String

    @Option(
        name: .customLong("live-sessions"),
        help: "The maximum number of sessions in memory. The others are read from the bus when they are needed.")
    var liveSessions = Coordinator.usualLiveSessions

    @Option(
        name: .customLong("session-idle"),
        help: "The time without a message after which a session ends: 90s, 12h or none. (default: none)")
    var sessionIdle: AgeLimit?

    package func validate() throws {
        guard liveSessions > 0 else { throw ValidationError("--live-sessions must be at least 1") }
    }

    package init() {}

    package func run() async throws {
        let (flow, source) = try ServiceProcess.readFlowFile(flow)
        try await ServiceProgram.coordinator(
            flow, source: source, liveSessions: liveSessions, sessionIdle: sessionIdle?.duration
        ).run(options)
    }
}
