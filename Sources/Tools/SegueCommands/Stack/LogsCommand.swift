package import ArgumentParser
internal import Compose
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

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

/// How lines of logs are written.
struct LogOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Each line with its time, in UTC.")
    var timestamps = false

    @Flag(name: .customLong("no-log-prefix"), help: "Without the names of the services.")
    var noLogPrefix = false

    @Flag(name: .customLong("no-color"), help: "Without colours, also on a terminal.")
    var noColor = false

    @Flag(help: "One JSON object a line: service, time, stream and text.")
    var json = false

    var style: LogPrinter.Style {
        LogPrinter.Style(hasTime: timestamps, hasPrefix: !noLogPrefix, hasColor: !noColor, isJSON: json)
    }
}

/// Writes the lines of several services to standard output, each behind the name of its service.
struct LogPrinter: Sendable {
    struct Style: Sendable {
        var hasTime = false
        var hasPrefix = true
        /// Where the console has any.
        var hasColor = true
        var isJSON = false
    }

    private static let colors: [TextStyle] = [.cyan, .yellow, .green, .magenta, .blue]

    private let services: [String]
    private let width: Int
    private let style: Style
    private let console: Console
    private let isColored: Bool
    /// The log whose line is not ended. Its next part goes on there, unless another one's line comes between.
    private var open: Log?

    private struct Log: Equatable {
        let service: String
        let stream: LogLine.Stream
    }

    /// - Parameter services: those whose lines may come, in the order of their colours.
    init(services: [String], style: Style = Style(), to console: Console = .output) {
        self.services = services
        self.style = style
        self.console = console
        width = services.map(\.count).max() ?? 0
        isColored = style.hasColor && console.isColored
    }

    /// Soon: `flush()` of the console has to follow before the process ends.
    mutating func show(_ line: LogLine) async throws {
        try await console.append(
            (style.isJSON ? JSONValue(encoding: LogObject(line)).description + "\n" : text(line)).utf8)
    }

    /// Ends a line whose last part has not come.
    mutating func end() async throws {
        if open != nil { try await console.append("\n".utf8) }
        open = nil
    }

    private mutating func text(_ line: LogLine) -> String {
        let log = Log(service: line.service, stream: line.stream)
        let head = open == log ? "" : (open == nil ? "" : "\n") + head(of: line)
        open = line.continues ? log : nil
        return head + line.text + (line.continues ? "" : "\n")
    }

    private func head(of line: LogLine) -> String {
        (style.hasPrefix ? prefix(line.service) + " " : "")
            + (style.hasTime ? "\(Timestamp.text(of: line.timestamp)) " : "")
    }

    private func prefix(_ service: String) -> String {
        let text = "\(service.padding(to: width)) |"
        guard isColored else { return text }
        let index = services.firstIndex(of: service) ?? services.count
        return Self.colors[index % Self.colors.count].applied(to: text)
    }
}

/// One line of a service's log, for a program.
struct LogObject: Encodable {
    let service: String
    let time: String
    let stream: LogLine.Stream
    let text: String
    /// The next object of the same service and stream goes on with this line.
    let `continues`: Bool?

    init(_ line: LogLine) {
        service = line.service
        time = Timestamp.text(of: line.timestamp)
        stream = line.stream
        text = line.text
        `continues` = line.continues ? true : nil
    }
}
