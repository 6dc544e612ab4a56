internal import AppContract
package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct MonitorCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Print what happens on the bus: taps, results of services, changes of screens.",
        discussion: """
            segue monitor                                what happens from now on
            segue monitor --since 5m --session alice     the last 5 minutes of a session, and what happens then
            segue monitor --all                          every message, on a line of its own
            segue monitor --type 'command.*' --since 5m  the last 5 minutes, then new commands
            segue monitor --since retained --json        the documents as they are now, then new messages
            segue monitor --last --until end             the last message of each type
            segue monitor --exclude 'document.*' -n 10   the next 10 messages that are not documents
            segue monitor --where 'data.playlistID == "p1" and kind != event'
            segue monitor --template '{time} {type} {data.playlistID}'
            segue monitor --since beginning --until end --csv --field data.url
            segue monitor --stats --for 10s              rates and latencies of each type

            On a terminal, a line is a thing that happened, with its messages joined. If the output is a pipe or a \
            file, or an option selects or formats single messages, a line is a message. Messages that were lost or \
            discarded are reported on standard error. docs/observing.md explains the output and the conditions.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var span: MonitorSpanOptions
    @OptionGroup var print: PrintOptions
    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print every message on a line of its own, also those that only processes need.")
    var all = false

    @Flag(name: .shortAndLong, help: "Print whole lines and further attributes of every message.")
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
        guard !showsHappenings else { return try await showHappenings() }
        let printer = try MessagePrinter(print, verbose: verbose)
        let paths = print.field.paths.compactMap { try? MessagePath($0) }
        try await options.withBus { bus in
            let monitor = span.monitor(bus, selection)
            await Console.error.tell(UnknownNames.lines(selection, paths, on: bus))
            try await Console.output.whileRead {
                try await printer.begin()
                try await printer.withNames(of: bus) { show in
                    try await monitor.run(show) { await Console.error.tell("\($0)") }
                }
            }
        }
    }

    /// True if no option is about single messages, and a person reads the output.
    private var showsHappenings: Bool {
        Console.output.isTerminal && !all && !verbose && print.forms.isEmpty && !selection.selectsMessages
            && span.count == nil && span.start != .last
    }

    /// The messages of other stories are read as well: they change the state before those of the selected one.
    private func showHappenings() async throws {
        let (options, span, session) = (options, span, selection.session)
        let printer = HappeningPrinter(story: selection.correlationID, isColored: Console.output.isColored(print.color))
        let result: Result<Void, any Error>
        do {
            try await Interruption.ending {
                try await options.withBus { bus in
                    try await Console.output.whileRead {
                        try await printer.run(
                            span.monitor(bus, MessageSelection(subject: session)), on: bus, session: session,
                            isLive: span.start == .now)
                    }
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        if let note = await printer.note { await Console.error.tell(note) }
        try result.get()
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

/// The names in a selection that no process on the bus knows. They may be misspelt.
enum UnknownNames {
    /// A line for each pattern of types that matches no known type, and for each field that no contract of the selected
    /// types describes. Empty if no process has announced itself, or if the bus does not answer.
    /// - Parameter paths: the paths to print.
    static func lines(_ selection: MessageSelection, _ paths: [MessagePath], on bus: EventBus) async -> [String] {
        let paths = paths + selection.conditions.flatMap(\.paths)
        let fields = Set(paths.compactMap(\.dataField)).sorted()
        guard !(selection.types.isEmpty && fields.isEmpty), let messages = try? await KnownMessages.reported(on: bus),
            let newest = try? await bus.inspect.newestOfEachType(matching: [.all]), !messages.types.isEmpty
        else { return [] }
        let known = messages.types.union(newest.keys.map(\.description)).compactMap { MessageType($0) }
        let unknown = selection.types.filter { pattern in !known.contains(where: pattern.matches) }.map { pattern in
            line("no process on the bus knows \(pattern)", "\(pattern)", among: known.map(\.description))
        }
        let described = known.filter { selection.matches($0) }.map { messages.contract.messages[$0]?.data?.fields }
        // A type that no contract describes may have any fields.
        guard !described.isEmpty, !described.contains(nil) else { return unknown }
        let names = Set(described.compactMap(\.self).joined())
        return unknown
            + fields.filter { !names.contains($0) }.map { field in
                line("the selected messages have no field data.\(field)", field, among: names)
            }
    }

    private static func line(_ problem: String, _ name: String, among known: some Sequence<String>) -> String {
        let near = Spelling.nearest(to: name, in: Array(known)).map { "; did you mean \($0)?" }
        return problem + (near ?? "")
    }
}
