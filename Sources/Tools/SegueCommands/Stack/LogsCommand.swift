package import ArgumentParser
internal import Compose

package struct LogsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints what the services of a project have written.")

    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Wait for more, through restarts of the services and of the project.")
    var follow = false

    @Option(
        name: [.customShort("n"), .customLong("tail")],
        help: ArgumentHelp("Begin with so many lines of each service, not with all.", valueName: "lines"))
    var tail: Int?

    @OptionGroup var period: PeriodOptions
    @OptionGroup var options: LogOptions

    @Argument(help: "Only these services.", completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        if let tail, tail < 0 { throw ValidationError("-n is \(tail); it has to be 0 or more") }
        try period.validate(follow: follow)
    }

    package func run() async throws {
        let project = try project.resolve()
        let lines = try project.logs(of: services, last: tail, in: period.period, follow: follow)
        let names = try ProjectStatus.read(project)?.services.map(\.name).filter(lines.isWanted) ?? []
        let style = options.style
        try await Console.output.whileRead {
            var printer = LogPrinter(services: names, style: style)
            for await line in lines { try await printer.show(line) }
            try await printer.end()
        }
    }
}
