internal import ArgumentParser
internal import Compose
internal import EventBus
internal import Foundation
internal import Support

/// The options that limit log lines and events to a period.
struct LogPeriodOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Omit older output: \(PastTime.forms).", valueName: "time"))
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
        "a time such as 2026-03-01T12:00:00Z, '2026-03-01 12:00', 2026-03-01 or 12:00, or a duration before now such as 5m"

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

/// Reads and writes times as people do: in the local time zone, or in UTC with `--utc`.
enum WallTime {
    /// Reads RFC 3339, or a date, a date and a time, or a time of today in the time zone `zone`. Nil for any other
    /// string.
    static func date(from text: String, in zone: TimeZone = .current, now: Date = Date()) -> Date? {
        if let date = Timestamp.date(from: text) { return date }
        guard let match = text.wholeMatch(of: #/(?:(\d{4})-(\d\d)-(\d\d))?(?:[ T]?(\d\d):(\d\d)(?::(\d\d))?)?/#),
            match.1 != nil || match.4 != nil
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var parts = calendar.dateComponents([.year, .month, .day], from: now)
        if let year = match.1.flatMap({ Int($0) }) {
            (parts.year, parts.month, parts.day) = (year, match.2.flatMap { Int($0) }, match.3.flatMap { Int($0) })
        }
        parts.hour = match.4.flatMap { Int($0) } ?? 0
        parts.minute = match.5.flatMap { Int($0) } ?? 0
        parts.second = match.6.flatMap { Int($0) } ?? 0
        parts.timeZone = zone
        // A calendar would read the 31st of February as a day in March.
        guard parts.isValidDate(in: calendar) else { return nil }
        return calendar.date(from: parts).flatMap { Timestamp.canHold($0) ? $0 : nil }
    }

    /// The date and time with milliseconds and the zone: `2026-03-01T13:00:00.000+0100`, or with `Z` if the zone's
    /// offset is zero.
    static func text(of date: Date, in zone: TimeZone = .current) -> String {
        if zone.secondsFromGMT(for: date) == 0 { return Timestamp.text(of: date) }
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: zone))
    }

    /// If `--utc` is among the arguments, removes it and makes UTC the local time zone of this process. Arguments after
    /// `--` are not options.
    static func takeUTC(from arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        guard options.contains("--utc") else { return arguments }
        setenv("TZ", "UTC0", 1)
        tzset()
        NSTimeZone.resetSystemTimeZone()
        return options.filter { $0 != "--utc" } + arguments[options.endIndex...]
    }
}
