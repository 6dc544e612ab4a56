package import ArgumentParser
internal import Compose
internal import Glibc
internal import Logging

/// The supervisor that `up -d`, `up --wait`, `start`, `restart` and `scale` start in the background.
package struct SuperviseCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "supervise", abstract: "Run the services of the resolved stack that standard input contains.",
        shouldDisplay: false)

    @OptionGroup var project: ProjectOptions
    @OptionGroup var options: SuperviseOptions

    @Flag(help: "Do not start the dependencies of the named services.")
    var noDeps = false

    @Flag(help: "The start is complete when all services are ready, not already when their processes run.")
    var wait = false

    @Argument(help: "The services to start. (default: all)")
    var services: [String] = []

    package init() {}

    package func run() async throws {
        var options = options.supervisorOptions(stopSignals: [SIGINT, SIGTERM])
        options.failures.start = wait ? .ready : .launched
        options.failures.needsSuccess = wait
        let supervisor = try Supervisor(
            stack: Stack(text: StandardInput.text()), selection: Selection(services, includesDependencies: !noDeps),
            project: project.resolve(), options: options, logger: Logger(label: "supervisor"))
        try await supervisor.run()
    }
}

/// The options of a supervisor in the foreground or in the background.
struct SuperviseOptions: ParsableArguments, Sendable {
    @OptionGroup var grace: GraceOption

    @Flag(help: "Stop all services as soon as one service has failed and is not restarted.")
    var abortOnFailure = false

    func supervisorOptions(stopSignals: [Int32]) -> SupervisorOptions {
        SupervisorOptions(
            stopGrace: grace.grace, failures: FailureRule(aborts: abortOnFailure), stopSignals: stopSignals)
    }

    /// The options as arguments for a command line.
    var arguments: [String] {
        (grace.timeout.map { ["--timeout", String($0)] } ?? []) + (abortOnFailure ? ["--abort-on-failure"] : [])
    }
}
