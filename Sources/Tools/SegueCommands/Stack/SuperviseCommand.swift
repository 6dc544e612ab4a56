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
        let path = try files.path()
        let supervisor = try Supervisor(
            stack: ComposeFile(path: path).stack, project: project.resolve(file: path),
            options: SupervisorOptions(stopSignals: [SIGINT, SIGTERM]), logger: Logger(label: "supervisor"))
        try await supervisor.run()
    }
}
