internal import ArgumentParser
internal import Foundation
internal import Support

/// Reads and writes times as people do: in the local time zone, or in UTC with `--utc`.
enum WallTime {
    /// Reads RFC 3339, or a date, a date and a time, or a time of today in the time zone `zone`. Nil for any other
    /// string.
    static func date(from text: String, in zone: LocalZone = .current, now: Date = Date()) -> Date? {
        if let date = Timestamp.date(from: text) { return date }
        let form = #/(\d{4}-\d\d-\d\d)?(?:[ T]?(\d\d:\d\d)(?:(:\d\d)(\.\d{1,3})?)?)?/#.byScalar
        guard let match = text.wholeMatch(of: form),
            match.1 != nil || match.2 != nil
        else { return nil }
        let day = match.1 ?? Timestamp.text(of: now, in: zone).prefix(10)
        let fraction = (match.4.map(String.init) ?? ".").padding(toLength: 4, withPad: "0", startingAt: 0)
        var local = "\(day)T\(match.2 ?? "00:00")\(match.3 ?? ":00")\(fraction)Z"
        guard let date = local.withUTF8(Timestamp.plainDate).map(zone.date(atLocal:)) else { return nil }
        return Timestamp.canHold(date) ? date : nil
    }

    /// The date and time with milliseconds and the zone, see ``Timestamp/text(of:in:)``.
    static func text(of date: Date, in zone: LocalZone = .current) -> String { Timestamp.text(of: date, in: zone) }

    /// Makes UTC the local time zone of this process if `--utc` is among the arguments. Arguments after `--` are not
    /// options.
    ///
    /// The parser reads times in the order of the arguments, so this must be done before the arguments are parsed.
    static func useUTC(ifAskedIn arguments: [String]) {
        guard arguments.prefix(while: { $0 != "--" }).contains(where: { "--utc" == $0 }) else { return }
        setenv("TZ", "UTC0", 1)
        tzset()
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
