package import ArgumentParser
internal import EventBus
internal import Monitor

package struct TopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Shows what the bus is busy with: types and services, the most frequent first.",
        discussion: """
            segue top                         until q or Ctrl-C
            segue top --subject alice         of one session
            segue top --once --json           one second, for a program

            P50 and P99 are how long half of the messages, and 99 in a hundred, took from their publishing at most. GAPS \\
            are messages that the feed dropped and the journal gave back. Into a pipe it writes one table.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var statistics: StatisticsOptions

    @Flag(help: "Show one interval, and end.")
    var once = false

    @Flag(help: "One JSON object, of one interval.")
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
