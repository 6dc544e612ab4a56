internal import ArgumentParser
internal import EventBus
internal import Monitor

/// From where to where a command reads.
struct SpanOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            """
            now, beginning, retained (the last of each document), last (of each type), an offset, a time such as \
            2026-03-01T12:00:00Z, or how long ago as in 5m. (default: now)
            """, valueName: "start"), transform: MonitorStart.argument)
    var since: MonitorStart?

    @Flag(help: "Begin with the last message of each type, as --since last.")
    var last = false

    @Option(
        help: ArgumentHelp(
            "Where to end: end (of the journal as it is now), an offset, a time, or how long ago.",
            valueName: "end"), transform: MonitorEnd.argument)
    var until: MonitorEnd?

    @Option(help: ArgumentHelp("End after so many messages.", valueName: "number"), transform: Int.count)
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time, as in 10s.", valueName: "time"),
        transform: Duration.argument)
    var duration: Duration?

    func validate() throws {
        guard !last || since == nil else { throw ValidationError("--last and --since exclude each other") }
    }

    var start: MonitorStart { last ? .last : since ?? .now }

    func monitor(_ bus: any EventBus, _ selection: MessageSelection) -> Monitor {
        Monitor(
            bus: bus, selection: selection, start: start, end: until ?? .never, count: count, duration: duration)
    }
}
