import Support
import Testing

@Suite("Durations as text")
struct DurationTextTests {
    @Test(
        "A whole number with a unit is read, and written in the greatest unit that fits",
        arguments: [
            ("500ms", .milliseconds(500), "500ms"), ("5s", .seconds(5), "5s"), ("90s", .seconds(90), "90s"),
            ("120s", .seconds(120), "2m"), ("2m", .seconds(120), "2m"), ("1h", .seconds(3600), "1h"),
            ("24h", .seconds(86_400), "1d"), ("7d", .seconds(604_800), "7d"), ("1000ms", .seconds(1), "1s"),
            ("0ms", .zero, "0s"), ("0d", .zero, "0s"),
        ] as [(String, Duration, String)])
    func whole(text: String, duration: Duration, written: String) {
        #expect(Duration(text: text) == duration)
        #expect(duration.text == written)
        #expect(Duration(text: written) == duration)
    }

    @Test(
        "Anything else is not a duration",
        arguments: ["", "5", "s", "5x", "5 s", "-5s", "1.5s", "1m30s", "5S", "٥s", "9223372036854775807d", "250us"])
    func malformed(text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test(
        "A sum of numbers with units is read, to the microsecond",
        arguments: [
            ("1m30s", .seconds(90), "90s"), ("1.5h", .seconds(5400), "5400s"), ("250us", .microseconds(250), "250us"),
            ("1s500ms", .milliseconds(1500), "1s500ms"), ("1.001s", .milliseconds(1001), "1s1ms"),
            ("1d", .seconds(86_400), "86400s"), ("0s", .zero, "0s"), (".5s", .milliseconds(500), "500ms"),
        ] as [(String, Duration, String)])
    func sum(text: String, duration: Duration, written: String) {
        #expect(Duration(sum: text) == duration)
        #expect(duration.sumText == written)
        #expect(Duration(sum: written) == duration)
    }

    @Test(
        "A sum without a duration, or beyond the limit, is refused",
        arguments: ["", "5", "s", "1m30", "1.2.3s", "1m 30s", "-1s", "1w", "366d", "1e3s", "99999999999999999999999d"])
    func malformedSum(text: String) {
        #expect(Duration(sum: text) == nil)
    }

    @Test("An age has a limit of at least a second, or none")
    func ageLimit() {
        #expect(AgeLimit("7d")?.duration == .seconds(604_800))
        for text in ["none", "0"] { #expect(AgeLimit(text).map { $0.duration == nil } == true) }
        for text in ["", "d", "-1d", "0s", "999ms", "7 days", "9223372036854775807d"] {
            #expect(AgeLimit(text) == nil)
        }
    }
}
