internal import ArgumentParser
internal import Compose
internal import EventBus
internal import Foundation

/// The options that limit log lines and events to a period.
struct LogPeriodOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Omit older output: \(PastTime.forms).", valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("Omit newer output; a duration or a time, as for --since.", valueName: "time"))
    var until: PastTime?

    var period: LogPeriod { LogPeriod(since: since?.date, until: until?.date) }

    /// - Throws: `ValidationError` if `--until` is combined with `--follow`, or is earlier than `--since`.
    func validate(follow: Bool) throws {
        if follow, until != nil { throw ValidationError("--follow and --until exclude each other") }
        if let since, let until, since.date > until.date { throw ValidationError("--since is later than --until") }
    }
}

/// A point in time on the command line.
struct PastTime: ExpressibleByArgument, Sendable {
    static let forms =
        "a time such as 2026-03-01T12:00:00Z, '2026-03-01 12:00', 2026-03-01 or 12:00, "
        + "or a duration before now such as 5m"

    let date: Date

    /// - Parameter argument: a duration before now in the format of the compose specification, or a time as
    ///   ``WallTime`` reads it.
    init?(argument: String) {
        if let duration = Duration(compose: argument) {
            date = Date().addingTimeInterval(-(duration / .seconds(1)))
        } else if let date = WallTime.date(from: argument) {
            self.date = date
        } else {
            return nil
        }
    }
}
