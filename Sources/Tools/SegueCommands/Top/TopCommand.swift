package import ArgumentParser
internal import EventBus
internal import Monitor

package struct TopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show message rates, processes, screens and the last happenings on the whole terminal.",
        discussion: """
            segue top                         runs until q or Ctrl-C; ? lists the keys
            segue top --session alice         the messages and screens of one session
            segue top --once --json           counts for one second, for a program

            Keys select a process, restart it and show its log, and show the newest story and the dead letters. The \
            states and logs of processes are known if the project of -p or of this folder names the bus.

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
        let (options, messages, interval) = (options, try selection.selection, statistics.interval)
        let (isOnce, display) = (once || json || !Console.output.isTerminal, StatisticsDisplay(json ? .json : .tables))
        let (project, session) = (isOnce ? nil : try options.location().project, selection.session ?? Session.default)
        try await Interruption.ending {
            try await options.withBus { bus in
                let monitor = Monitor(bus: bus, selection: messages)
                try await Console.output.whileRead {
                    guard isOnce else {
                        let top = TopRun(
                            bus: bus, project: project, session: session, monitor: monitor, interval: interval)
                        return try await top.run()
                    }
                    try await StatisticsRun(
                        bus: bus, monitor: monitor, interval: interval, isOnce: true, display: display
                    )
                    .run()
                }
            }
        }
    }
}
