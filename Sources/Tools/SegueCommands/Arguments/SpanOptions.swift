internal import ArgumentParser
internal import Compose
internal import EventBus
package import Monitor
internal import Support

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

extension MonitorStart: FormedArgument {
    static let forms = "now, beginning, retained, last, \(places)"
    /// Those of a place in the journal.
    static let places = "an offset, a time such as 2026-03-01T12:00:00Z, or how long ago as in 5m"

    package init?(argument: String) {
        switch argument {
        case "now": self = .now
        case "beginning": self = .beginning
        case "retained": self = .retained
        case "last": self = .last
        default:
            if let offset = UInt64(argument) {
                self = .offset(offset)
            } else if let time = Timestamp.date(from: argument) {
                self = .time(time)
            } else if let duration = Duration(compose: argument) {
                self = .ago(duration)
            } else {
                return nil
            }
        }
    }
}

extension MonitorEnd: FormedArgument {
    static let forms = "end, \(MonitorStart.places)"

    package init?(argument: String) {
        switch MonitorStart(argument: argument) {
        case .offset(let offset): self = .offset(offset)
        case .time(let time): self = .time(time)
        case .ago(let duration): self = .ago(duration)
        default:
            guard argument == "end" else { return nil }
            self = .end
        }
    }
}
