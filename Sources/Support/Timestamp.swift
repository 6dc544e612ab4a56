public import Foundation

/// Converts between dates and the times in messages: RFC 3339, in UTC, with milliseconds. All times that Segue writes for
/// programs and people are written here, so that a time that was printed names the same millisecond when it is read.
///
/// Foundation reads other forms of RFC 3339.
public enum Timestamp {
    /// The years 0000 to 9999, in milliseconds since 1970. RFC 3339 has no other years.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// True if a timestamp can represent `date`.
    package static func canHold(_ date: Date) -> Bool {
        !date.timeIntervalSince1970.isNaN && range.contains(date.milliseconds)
    }

    /// The timestamp of a date, rounded to the millisecond. For a date outside the years 0000 to 9999, the timestamp of
    /// the nearest date in them.
    public static func text(of date: Date) -> String {
        String(unsafeUninitializedCapacity: size) { buffer in
            write(date, to: UnsafeMutableRawBufferPointer(buffer))
            return size
        }
    }

    /// The date and time in a zone with milliseconds and the zone: `2026-03-01T13:00:00.000+0100`. In UTC, or if the
    /// offset of the zone is not in whole minutes, the timestamp.
    package static func text(of date: Date, in zone: LocalZone) -> String {
        let offset = zone.offset(atMilliseconds: date.milliseconds)
        let local = date.moved(by: offset)
        guard offset != 0, offset % 60 == 0, canHold(date), canHold(local) else { return text(of: date) }
        let minutes = abs(offset) / 60
        let digits = String(10_000 + minutes / 60 * 100 + minutes % 60).dropFirst()
        return "\(text(of: local).dropLast())\(offset < 0 ? "-" : "+")\(digits)"
    }

    /// The time of day in a zone with milliseconds: `13:00:00.000`.
    package static func clock(of date: Date, in zone: LocalZone) -> String {
        String(text(of: date.moved(by: zone.offset(atMilliseconds: date.milliseconds))).dropFirst(11).dropLast())
    }

    /// The clock of a task and its children in a test that moves the time. Nil for the clock of the system.
    @TaskLocal package static var source: (@Sendable () -> Date)?

    /// This moment, rounded down to the millisecond. What is recorded after it does not have an earlier time.
    public static var now: Date { Date(milliseconds: (source?() ?? Date()).milliseconds(.down)) }

    /// The number of bytes of a timestamp.
    package static let size = 24

    /// Writes ``text(of:)`` into memory of ``size`` bytes.
    package static func write(_ date: Date, to memory: UnsafeMutableRawBufferPointer) {
        let milliseconds = min(max(date.milliseconds, range.lowerBound), range.upperBound)
        let (seconds, fraction) = milliseconds.flooredQuotientAndRemainder(by: 1000)
        let (days, time) = seconds.flooredQuotientAndRemainder(by: 86_400)
        let (year, month, day) = CivilDate.fields(ofDay: days)
        memory.copyBytes(from: "0000-00-00T00:00:00.000Z".utf8)
        memory.put(year, digits: 4, at: 0)
        memory.put(month, digits: 2, at: 5)
        memory.put(day, digits: 2, at: 8)
        memory.put(time / 3600, digits: 2, at: 11)
        memory.put(time / 60 % 60, digits: 2, at: 14)
        memory.put(time % 60, digits: 2, at: 17)
        memory.put(fraction, digits: 3, at: 20)
    }

    /// Reads a time in RFC 3339, with or without a fraction of a second, and rounds it to the millisecond. Nil if the
    /// string is anything else, or if the time is outside the years 0000 to 9999 in UTC.
    public static func date(from text: String) -> Date? {
        var text = text
        if let date = text.withUTF8(plainDate) { return date }
        for style in styles {
            // `parse` would ignore text after the time.
            let range = text.startIndex..<text.endIndex
            let found = try? style.consuming(text, startingAt: range.lowerBound, in: range)
            if let found, found.upperBound == range.upperBound, canHold(found.output) {
                return Date(milliseconds: found.output.milliseconds)
            }
        }
        return nil
    }

    private static let styles = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]

    /// Reads the form that ``text(of:)`` writes. Nil for any other form.
    package static func plainDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        guard bytes.count == 24, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            bytes[19] == UInt8(ascii: "."), bytes[23] == UInt8(ascii: "Z"),
            let year = bytes.number(0..<4), let month = bytes.number(5..<7), let day = bytes.number(8..<10),
            let hour = bytes.number(11..<13), let minute = bytes.number(14..<16), let second = bytes.number(17..<19),
            let fraction = bytes.number(20..<23), (1...12).contains(month), hour < 24, minute < 60, second < 60,
            case let days = CivilDate.day(year: year, month: month, day: day),
            CivilDate.fields(ofDay: days) == (year, month, day)
        else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(milliseconds: seconds * 1000 + fraction)
    }
}

extension Date {
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    fileprivate func moved(by seconds: Int64) -> Date {
        let (sum, overflows) = milliseconds.addingReportingOverflow(seconds * 1000)
        return overflows ? self : Date(milliseconds: sum)
    }

    /// The milliseconds since 1970, rounded to the nearest and limited to the range of `Int64`. 0 for a date that is
    /// not a number.
    package var milliseconds: Int64 { milliseconds(.toNearestOrAwayFromZero) }

    package func milliseconds(_ rule: FloatingPointRoundingRule) -> Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded(rule)
        if milliseconds.isNaN { return 0 }
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func put(_ number: Int64, digits: Int, at index: Int) {
        var rest = number
        for place in stride(from: index + digits - 1, through: index, by: -1) {
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func number(_ range: Range<Int>) -> Int64? {
        var number: Int64 = 0
        for index in range {
            guard case let digit = self[index] &- UInt8(ascii: "0"), digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }
}

/// Conversions between days since 1970-01-01 and dates of the proleptic Gregorian calendar.
///
/// The arithmetic begins each year in March, so that the leap day is the last day of a year:
/// https://howardhinnant.github.io/date_algorithms.html
enum CivilDate {
    /// The number of days in 400 years. After an era, the calendar repeats.
    private static let daysPerEra: Int64 = 146_097
    /// The number of days from 0000-03-01 to 1970-01-01.
    private static let epoch: Int64 = 719_468

    static func fields(ofDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = number + epoch
        let era = (shifted >= 0 ? shifted : shifted - daysPerEra + 1) / daysPerEra
        let dayOfEra = shifted - era * daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysPerEra + dayOfEra - epoch
    }
}
