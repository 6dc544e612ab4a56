internal import ArgumentParser
internal import Compose
internal import EventBus
internal import Foundation
internal import Support

/// From when and until when something is wanted.
struct PeriodOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Nothing older: how long ago, such as 10m, or a time such as 2026-01-31T18:00:00Z.", valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("Nothing newer, in the same ways.", valueName: "time"))
    var until: PastTime?

    var period: LogPeriod { LogPeriod(since: since?.date, until: until?.date) }

    /// What is still to come has no end that could be waited for.
    func validate(follow: Bool) throws {
        if follow, until != nil { throw ValidationError("--follow and --until exclude each other") }
        if let since, let until, since.date > until.date { throw ValidationError("--since is later than --until") }
    }
}

/// A time as a person says it on a command line.
struct PastTime: ExpressibleByArgument, Sendable {
    let date: Date

    /// - Parameter argument: a duration of the compose specification, counted back from now, or a time of RFC 3339.
    init?(argument: String) {
        if let duration = Duration(compose: argument) {
            date = Date().addingTimeInterval(-(duration / .seconds(1)))
        } else if let date = Timestamp.date(from: argument) {
            self.date = date
        } else {
            return nil
        }
    }
}
