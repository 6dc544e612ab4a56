internal import ArgumentParser
internal import Foundation
internal import Support

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

    /// Makes UTC the local time zone of this process if `--utc` is among the arguments. Arguments after `--` are not
    /// options.
    ///
    /// The parser reads times in the order of the arguments, so this must be done before the arguments are parsed.
    static func useUTC(ifAskedIn arguments: [String]) {
        guard arguments.prefix(while: { $0 != "--" }).contains("--utc") else { return }
        setenv("TZ", "UTC0", 1)
        tzset()
        NSTimeZone.resetSystemTimeZone()
    }
}

/// The option `--utc`. ``WallTime/useUTC(ifAskedIn:)`` puts it into effect.
struct ZoneOptions: ParsableArguments, Sendable {
    @Flag(name: .customLong("utc"), help: "Read and print times in UTC instead of the local time zone.")
    var isUTC = false
}

/// A verb that reads times of people, or prints times for people.
protocol WallTimeCommand: ParsableCommand {
    var zone: ZoneOptions { get }
}
