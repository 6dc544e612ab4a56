package import ArgumentParser
internal import Compose
internal import Glibc
internal import Logging

/// What `up -d` leaves behind: a supervisor without a terminal. It also is what a systemd unit would start.
package struct SuperviseCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "supervise", abstract: "Runs the services of a compose file, their output in log files only.",
        shouldDisplay: false)

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    package init() {}

    package func run() async throws {
        let file = try await files.read()
        let supervisor = try Supervisor(
            stack: files.stack(of: file), project: project.resolve(files: files.paths()),
            options: SupervisorOptions(stopSignals: [SIGINT, SIGTERM]), logger: Logger(label: "supervisor"))
        try await supervisor.run()
    }
}
