package import ArgumentParser
internal import EventBus
internal import Monitor

package struct MonitorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Shows the messages of the bus as they come.",
        discussion: """
            segue monitor                                every message from now on
            segue monitor --type 'command.*' --since 5m  the commands of the last five minutes, then those to come
            segue monitor --since retained --json        what is true now, and each change, for a program
            """)

    @OptionGroup var options: BusOptions

    @Option(name: .customLong("kind"), help: "Only messages of this kind; may be repeated.")
    var kinds: [MessageKind] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp("Only these types, as in 'event.Playlist*'; may be repeated.", valueName: "pattern"))
    var types: [MessagePattern] = []

    @Option(help: "Only messages of this session.")
    var subject: String?

    @Option(
        help: ArgumentHelp(
            "now, beginning, retained (the last of each document), an offset, or how long ago as in 5m.",
            valueName: "start"))
    var since = MonitorStart.now

    @Option(help: "End after so many messages.")
    var count: Int?

    @OptionGroup var print: PrintOptions

    @Flag(name: .shortAndLong, help: "Whole lines, and all attributes.")
    var verbose = false

    package init() {}

    package func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is \(count); it has to be 1 or more") }
    }

    package func run() async throws {
        let selection = MessageSelection(kinds: kinds, types: types, subject: subject)
        let (start, count, printer) = (since, count, MessagePrinter(print, verbose: verbose))
        try await options.withBus { bus in
            let monitor = Monitor(bus: bus, selection: selection, start: start, count: count)
            try await Console.output.whileRead {
                try await monitor.run { try await printer.show($0) }
            }
        }
    }
}
