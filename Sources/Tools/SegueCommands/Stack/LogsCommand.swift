package import ArgumentParser
package import Compose
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct LogsCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Print the output of a project's services.",
        discussion: """
            segue logs                     the output of all services
            segue logs -f -n 20 web        the last 20 lines of one service, then new lines
            segue logs --since 10m --json  the last ten minutes, for a program

            With --json, a line has service, time, stream and text.

            The exit status is 1 if the project was never started.
            """)

    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Wait for new lines, also after a restart of the services or the project.")
    var follow = false

    @Option(
        name: [.customShort("n"), .customLong("tail")],
        help: ArgumentHelp("The number of last lines of each service instance. (default: all)", valueName: "lines"))
    var tail: Int?

    @OptionGroup var period: LogPeriodOptions
    @OptionGroup var zone: ZoneOptions
    @OptionGroup var options: LogOptions

    @Argument(help: "The services whose output is printed. (default: all)", completion: .services)
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

/// The options that select the format of log lines.
struct LogOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Print the time of each line.")
    var timestamps = false

    @Flag(name: .customLong("no-log-prefix"), help: "Do not print the names of the services.")
    var noLogPrefix = false

    @Flag(name: .customLong("no-color"), help: "Do not print in colour, even on a terminal.")
    var noColor = false

    @OptionGroup var output: OutputOptions

    var style: LogPrinter.Style {
        LogPrinter.Style(hasTime: timestamps, hasPrefix: !noLogPrefix, hasColor: !noColor, isJSON: output.json)
    }
}

/// Writes log lines of several services, each with the name of its service before it.
struct LogPrinter: Sendable {
    struct Style: Sendable {
        var hasTime = false
        var hasPrefix = true
        /// False to print without colours. True to print with colours if the console supports them.
        var hasColor = true
        var isJSON = false
    }

    private static let colors: [TextStyle] = [.cyan, .yellow, .green, .magenta, .blue]

    private let services: [String]
    private let width: Int
    private let style: Style
    private let console: Console
    private let isColored: Bool
    /// The log whose last line is incomplete. Nil if the last line is complete. The incomplete line is continued unless
    /// a line of another log follows.
    private var open: Log?

    private struct Log: Equatable {
        let service: String
        let stream: LogLine.Stream

        init(_ line: LogLine) {
            (service, stream) = (line.service, line.stream)
        }
    }

    /// - Parameter services: the services that may write lines, in the order of their colours.
    init(services: [String], style: Style = Style(), to console: Console = .output) {
        self.services = services
        self.style = style
        self.console = console
        width = services.map(\.count).max() ?? 0
        isColored = style.hasColor && console.isColored
    }

    /// Queues a line to be written soon. Call `flush()` of the console before the process ends.
    mutating func show(_ line: LogLine) async throws {
        if style.isJSON {
            return try await console.append(Array("\(JSONValue(encoding: line))\n".utf8))
        }
        let start = head(before: line)
        let end: TerminalText = line.continues ? "" : "\n"
        open = line.continues ? Log(line) : nil
        // A line is appended at once, so that nothing else is written within it.
        if console.isTerminal {
            try await console.append(start + TerminalText(coloredLine: line.text, isColored: isColored) + end)
        } else {
            // A service's output is data.
            try await console.append(Array("\(start)\(line.text)\(end)".utf8))
        }
    }

    /// Writes a newline if the last line is incomplete.
    mutating func end() async throws {
        if open != nil { try await console.append("\n") }
        open = nil
    }

    /// The line as a display draws it that cuts lines to its width. The colours of the service are left out.
    /// - Parameter limit: The maximum length of the line, in Unicode scalars.
    func text(of line: LogLine, limit: Int) -> StyledText {
        var text = head(of: line)
        let shown = String(line.text.unicodeScalars.prefix(limit))
        text.append(TerminalText(coloredLine: shown, isColored: false).description)
        return text
    }

    /// The text before a line: nothing if it continues the last one.
    private func head(before line: LogLine) -> TerminalText {
        guard open != Log(line) else { return "" }
        return (open == nil ? "" : "\n") + head(of: line).rendered(isColored: isColored, columns: nil)
    }

    private func head(of line: LogLine) -> StyledText {
        var head = StyledText()
        if style.hasPrefix {
            let index = services.firstIndex(of: line.service) ?? services.count
            head.append("\(line.service.padding(to: width)) |", Self.colors[index % Self.colors.count])
            head.append(" ")
        }
        if style.hasTime { head.append("\(WallTime.text(of: line.timestamp)) ") }
        return head
    }
}

extension LogLine: Encodable {
    private enum CodingKeys: CodingKey {
        case service, time, stream, text, continues
    }

    /// Encodes `continues` only if it is true.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(service, forKey: .service)
        try container.encode(timestamp, forKey: .time)
        try container.encode(stream, forKey: .stream)
        try container.encode(text, forKey: .text)
        if continues { try container.encode(true, forKey: .continues) }
    }
}
