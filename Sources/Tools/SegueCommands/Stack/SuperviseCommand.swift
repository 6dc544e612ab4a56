package import ArgumentParser
internal import Compose
internal import Glibc
internal import Logging

/// What `up -d` leaves behind: a supervisor without a terminal.
package struct SuperviseCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "supervise", abstract: "Runs the services of the resolved stack at its standard input.",
        shouldDisplay: false)

    @OptionGroup var project: ProjectOptions
    @OptionGroup var options: SuperviseOptions

    @Flag(help: "Without the services that those that are named depend on.")
    var noDeps = false

    @Argument(help: "Only these services at first.")
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let supervisor = try Supervisor(
            stack: Stack(text: StandardInput.text()), selection: Selection(services, includesDependencies: !noDeps),
            project: project.resolve(), options: options.supervisorOptions(stopSignals: [SIGINT, SIGTERM]),
            logger: Logger(label: "supervisor"))
        try await supervisor.run()
    }
}

/// How a supervisor goes about its work, in the foreground or not.
struct SuperviseOptions: ParsableArguments, Sendable {
    @OptionGroup var grace: GraceOption

    @Flag(help: "Stop all as soon as one service has failed for good.")
    var abortOnFailure = false

    func supervisorOptions(stopSignals: [Int32]) -> SupervisorOptions {
        SupervisorOptions(stopGrace: grace.grace, abortsOnFailure: abortOnFailure, stopSignals: stopSignals)
    }

    /// As a command line says it.
    var arguments: [String] {
        (grace.timeout.map { ["--timeout", String($0)] } ?? []) + (abortOnFailure ? ["--abort-on-failure"] : [])
    }
}
