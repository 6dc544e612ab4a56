package import ArgumentParser
internal import EventBus
internal import Monitor

package struct TopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show statistics of message types, the most frequent first, and of services.",
        discussion: """
            segue top                         runs until q or Ctrl-C
            segue top --subject alice         counts the messages of one session
            segue top --once --json           counts for one second, for a program

            P50 and P99 are latencies: 50 % and 99 % of the messages arrived within this time after they were \
            published. GAPS counts messages that did not arrive live and were read from the journal. If the \
            output is a pipe or a file, one table is printed.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var statistics: StatisticsOptions

    @Flag(help: "Print the statistics of one interval, and end.")
    var once = false

    @Flag(help: "Print the statistics of one interval as a JSON object, and end.")
    var json = false

    package init() {}

    package func run() async throws {
        let (options, selection, interval) = (options, try selection.selection, statistics.interval)
        let isOnce = once || json || !Console.output.isTerminal
        let display = StatisticsDisplay(json ? .json : isOnce ? .tables : .screen)
        try await Interruption.ending {
            try await options.withBus { bus in
                let run = StatisticsRun(
                    bus: bus, monitor: Monitor(bus: bus, selection: selection), interval: interval, isOnce: isOnce,
                    display: display)
                try await Console.output.whileRead {
                    guard !isOnce else { return try await run.run() }
                    try await FullScreen(output: .output).run(redraw: display.redraw, run.run)
                }
            }
        }
    }
}
