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
            segue monitor --last --until end             the newest message of each type
            segue monitor --where 'data.playlistID == "p1" and kind != event'
            segue monitor --source music-service --template '{time} {type} {data.playlistID}'
            segue monitor --since beginning --until end --csv --field time --field type > messages.csv

            What got lost on the way, and what was discarded, is told on standard error. docs/monitor.md explains it all.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var span: SpanOptions
    @OptionGroup var print: PrintOptions

    @Flag(name: .shortAndLong, help: "Whole lines, and all attributes.")
    var verbose = false

    package init() {}

    package func run() async throws {
        let printer = try MessagePrinter(print, verbose: verbose)
        let (selection, span) = (try selection.selection, span)
        try await options.withBus { bus in
            let monitor = span.monitor(bus, selection)
            try await Console.output.whileRead {
                try await printer.begin()
                try await monitor.run(printer.show) { await Console.error.tell("\($0)") }
            }
        }
    }
}
