package import ArgumentParser
internal import Logging
internal import SystemSupport

/// The program `segue`.
package struct Segue: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "segue", abstract: "Start and watch the services of an app, and talk to them.",
        version: Version.description,
        groupedSubcommands: [
            CommandGroup(
                name: "Services",
                subcommands: [
                    DemoCommand.self, UpCommand.self, DownCommand.self, StartCommand.self, StopCommand.self,
                    RestartCommand.self, KillCommand.self, ScaleCommand.self, WaitCommand.self, PsCommand.self,
                    ListCommand.self, LogsCommand.self, EventsCommand.self, OpenCommand.self, ExecCommand.self,
                    RunCommand.self, ConfigCommand.self, ExportCommand.self, SuperviseCommand.self,
                ]),
            CommandGroup(
                name: "Bus",
                subcommands: [
                    MonitorCommand.self, TopCommand.self, TraceCommand.self, DescribeCommand.self, SendCommand.self,
                    GetCommand.self,
                    AskCommand.self, ServicesCommand.self, ConsumerCommand.self, DeadCommand.self, TimersCommand.self,
                    RecordCommand.self, ReplayCommand.self, KeysCommand.self, AccessCommand.self, BenchCommand.self,
                ]),
            CommandGroup(name: "Flows and contracts", subcommands: [FlowCommand.self, ContractCommand.self]),
            CommandGroup(name: "Your own app", subcommands: [NewCommand.self]),
        ])

    package init() {}

    /// Runs the command line of this process.
    package static func runProgram() async {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: StandardError())
            handler.logLevel = .notice
            return handler
        }
        await CommandLineTool.run(Segue.self)
    }
}
