internal import ArgumentParser
internal import Compose
internal import EventBus
package import Monitor
internal import Support

/// The options that select the part of the journal that a command reads.
struct MonitorSpanOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            """
            The start: now, beginning, retained (the documents as they are now), last (the last message of each \
            type), \(MonitorStart.places). (default: now)
            """, valueName: "start"), transform: MonitorStart.argument)
    var since: MonitorStart?

    @Flag(help: "Start with the last message of each type; the same as --since last.")
    var last = false

    @Option(
        help: ArgumentHelp(
            "The end: end (the present end of the journal), an offset, a time, or a duration before now. "
                + "(default: never)",
            valueName: "end"), transform: MonitorEnd.argument)
    var until: MonitorEnd?

    @Option(
        name: [.customShort("n"), .long], help: ArgumentHelp("End after this number of messages.", valueName: "number"),
        transform: Int.count)
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this duration, such as 10s.", valueName: "duration"),
        transform: Duration.argument)
    var duration: Duration?

    func validate() throws {
        guard !last || since == nil else { throw ValidationError("--last and --since exclude each other") }
    }

    var start: MonitorStart { last ? .last : since ?? .now }

    func monitor(_ bus: EventBus, _ selection: MessageSelection) -> Monitor {
        Monitor(
            bus: bus, selection: selection, start: start, end: until ?? .never, count: count, duration: duration)
    }
}

extension MonitorStart: FormedArgument {
    static let forms = "now, beginning, retained, last, \(places)"
    /// The forms that name a place in the journal.
    static let places = "an offset, \(PastTime.forms)"

    package init?(argument: String) {
        switch argument {
        case "now": self = .now
        case "beginning": self = .beginning
        case "retained": self = .retained
        case "last": self = .last
        default:
            if let offset = Position.offset(argument) {
                self = .offset(offset)
            } else if let time = WallTime.date(from: argument) {
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
