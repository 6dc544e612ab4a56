import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("Times that segue prints")
struct ZoneTests {
    @Test(
        "Times equal those of date(1), for every form of TZ", .timeLimit(.minutes(1)),
        arguments: [
            "UTC-2", "JST-9", ":America/New_York", "Europe/Berlin", "EST5EDT,M3.2.0,M11.1.0", "<+0545>-5:45", "UTC0",
            "",
            "Nowhere/At_All",
        ])
    func zones(zone: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            var local = segue
            local.environment["TZ"] = zone
            let times = ["2026-01-15T23:59:59.999Z", "2026-07-15T12:00:00.001Z"]
            let lines = times.enumerated().map { number, time in
                """
                {"specversion":"1.0","id":"m\(number)","source":"clock/1","type":"event.Tick","subject":"default",\
                "time":"\(time)","correlationid":"m0"}

                """
            }
            try segue.write(lines.joined(), to: "ticks.jsonl")
            let dates = try await local.shell("date -d \(times[0]) +%FT%T.%3N%z; date -d \(times[1]) +%FT%T.%3N%z")
            let expected = dates.lines.map { $0.replacing("+0000", with: "Z") }
            let info = try await local("record", "info", "ticks.jsonl")
            #expect(info.output.contains("from \(expected[0]) to \(expected[1])"), "\(info)")
            let clocks = try await local("replay", "ticks.jsonl", "--dry-run").lines
            for (line, date) in zip(clocks, expected) {
                #expect(line.contains(" \(date.dropFirst(11).prefix(12)) "), "\(line)")
            }
            #expect(clocks.count == 2)
        }
    }

    @Test("A printed time finds its message with --since and --until", .timeLimit(.minutes(1)))
    func roundTrip() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                let type = MessageType(kind: .event, name: "Tick")
                for _ in 0..<100 {
                    let attributes = Attributes(type: type, source: "clock/1")
                    _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
                }
            }
            let monitor = ["monitor", "--since", "beginning", "--until", "end", "--type", "event.Tick"]
            let shown = try await segue.run(monitor).lines
            let ids = try await segue.run(monitor + ["--field", "id"]).lines
            #expect(shown.count == 100 && ids.count == 100)
            for (line, id) in zip(shown, ids).prefix(8) {
                let time = String(line.prefix(12))
                let found = try await segue("monitor", "--since", time, "--until", time, "--field", "id")
                #expect(found.lines.contains(id), "\(time) \(found)")
            }
        }
    }
}
