package import ArgumentParser
internal import EventBus
internal import Monitor

package struct MonitorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Print the messages of the bus as they are published.",
        discussion: """
            segue monitor                                all messages from now on
            segue monitor --type 'command.*' --since 5m  the last 5 minutes, then new commands
            segue monitor --since retained --json        the documents as they are now, then new messages
            segue monitor --last --until end             the last message of each type
            segue monitor --where 'data.playlistID == "p1" and kind != event'
            segue monitor --template '{time} {type} {data.playlistID}'
            segue monitor --since beginning --until end --csv --field data.url
            segue monitor --stats --for 10s              rates and latencies of each type

            Messages that were lost or discarded are reported on standard error. docs/monitor.md explains all options.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var span: MonitorSpanOptions
    @OptionGroup var print: PrintOptions

    @Flag(name: .shortAndLong, help: "Print whole lines and further attributes.")
    var verbose = false

    @Flag(help: "Print statistics instead of messages: counts, rates and latencies of types, and the lag of services.")
    var stats = false

    @OptionGroup var statistics: StatisticsOptions

    package init() {}

    package func validate() throws {
        guard !stats || !print.choosesPart else {
            throw ValidationError("--stats prints no messages; remove --field, --csv, --raw and --template")
        }
        guard stats || statistics.givenInterval == nil else { throw ValidationError("--interval requires --stats") }
        if verbose, let other = stats ? "--stats" : print.forms.first {
            throw ValidationError("--verbose and \(other) exclude each other")
        }
    }

    package func run() async throws {
        let (options, selection, span) = (options, try selection.selection, span)
        guard !stats else { return try await count(selection) }
        let printer = try MessagePrinter(print, verbose: verbose)
        try await options.withBus { bus in
            let monitor = span.monitor(bus, selection)
            try await Console.output.whileRead {
                try await printer.begin()
                try await monitor.run(printer.show) { await Console.error.tell("\($0)") }
            }
        }
    }

    private func count(_ selection: MessageSelection) async throws {
        let (options, span, interval) = (options, span, statistics.interval)
        let display = StatisticsDisplay(print.json ? .json : Console.output.isTerminal ? .inPlace : .tables)
        // After an interruption, the totals are still printed.
        try await Interruption.ending {
            try await options.withBus { bus in
                let run = StatisticsRun(
                    bus: bus, monitor: span.monitor(bus, selection), interval: interval, isOnce: false, display: display
                )
                try await Console.output.whileRead { try await run.run() }
            }
        }
    }
}
