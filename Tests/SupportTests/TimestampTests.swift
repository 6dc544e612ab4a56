import Foundation
import Testing

@testable import Support

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "A date that RFC 3339 cannot write becomes the nearest that it can",
        arguments: [
            (-.infinity, "0000-01-01T00:00:00.000Z"), (-.greatestFiniteMagnitude, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_200.001, "0000-01-01T00:00:00.000Z"), (-62_167_219_200, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_199, "0000-01-01T00:00:01.000Z"), (-0.000_4, "1970-01-01T00:00:00.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"), (.nan, "1970-01-01T00:00:00.000Z"),
            (.leastNonzeroMagnitude, "1970-01-01T00:00:00.000Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
            (253_402_300_799.999_9, "9999-12-31T23:59:59.999Z"), (253_402_300_800, "9999-12-31T23:59:59.999Z"),
            (9.223_372_036_854_776e15, "9999-12-31T23:59:59.999Z"), (.infinity, "9999-12-31T23:59:59.999Z"),
        ])
    func extremes(seconds: Double, text: String) {
        #expect(Timestamp.text(of: Date(timeIntervalSince1970: seconds)) == text)
        #expect(Timestamp.date(from: text) != nil)
    }

    @Test(
        "A text beyond the years 0000 to 9999 is not a timestamp",
        arguments: [
            "10000-01-01T00:00:00Z", "99999-01-01T00:00:00.000Z", "+999999999999-01-01T00:00:00Z",
            "292277026596-12-04T15:30:08Z", "-0001-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
        ])
    func beyond(text: String) {
        #expect(Timestamp.date(from: text) == nil)
    }

    @Test(
        "A text with more than a time is not a timestamp",
        arguments: [
            "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.5Z", "2026-11-21T10:00:00.123Z", "2026-11-21T10:00:00+01:00",
            "2026-11-21T10:00:00.25-05:30",
        ])
    func rest(text: String) {
        #expect(Timestamp.date(from: text) != nil)
        for rest in [" ", "\n", "\0", "Z", "x", " and more", "+01:00", ".5"] {
            #expect(Timestamp.date(from: text + rest) == nil, "\(text)\(rest)")
            #expect(Timestamp.date(from: rest + text) == nil, "\(rest)\(text)")
        }
    }

    @Test(
        "The milliseconds of a date are the nearest that can be counted",
        arguments: [
            (-.infinity, .min), (-9.3e15, .min), (-1.5, -1500), (0, 0), (.nan, 0), (9.3e15, .max), (.infinity, .max),
        ] as [(Double, Int64)])
    func milliseconds(seconds: Double, milliseconds: Int64) {
        #expect(Date(timeIntervalSince1970: seconds).milliseconds == milliseconds)
    }

    @Test("A written time has the same millisecond when it is read, in every zone", arguments: [0, 19_800])
    func everyMillisecond(offset: Int64) {
        let zone = LocalZone { _ in offset }
        for milliseconds in Int64(1_774_746_000_000)..<1_774_746_003_000 {
            let date = Date(milliseconds: milliseconds)
            let text = Timestamp.text(of: date, in: zone)
            #expect(Timestamp.date(from: text) == date)
            #expect(text.contains("T\(Timestamp.clock(of: date, in: zone))"))
        }
    }

    @Test("The current time is not later than one that is recorded afterwards")
    func now() {
        for _ in 0..<1000 {
            let now = Timestamp.now
            #expect(now <= Date() && Timestamp.date(from: Timestamp.text(of: now)) == now)
        }
    }
}
