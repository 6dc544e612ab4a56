import CommandLineTestSupport
import Foundation
import Testing

/// Tests that the benchmarks run. The figures of a debug build are not checked.
@Suite("'segue bench'")
struct BenchVerbTests {
    private struct Line: Decodable {
        let name: String
        let value: Double
        let unit: String
        let baseline: String
        let baselineValue: Double
        let ratio: Double
        let settings: [String: Setting]

        enum Setting: Decodable, Equatable {
            case count(Int)
            case text(String)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let count = try? container.decode(Int.self) {
                    self = .count(count)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }
    }

    @Test(
        "'segue bench' measures, and prints value, baseline and settings",
        .timeLimit(.minutes(1)),
        arguments: [
            ("roundtrip", ["roundtrip.p50", "roundtrip.p99"], "µs"),
            ("publish.journalled", ["publish.journalled"], "messages/s"),
            ("publish.plain", ["publish.plain", "publish.plain.nats"], "messages/s"),
            ("catchup", ["catchup"], "messages/s"),
            ("fanout", ["fanout"], "deliveries/s"), ("monitor", ["monitor"], "messages/s"),
            ("release", ["release"], "messages/s"), ("start", ["start"], "ms"),
        ])
    func measures(benchmark: String, names: [String], unit: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue("bench", benchmark, "--messages", "30", "--rounds", "1", "--json")
            #expect(result.status == 0, "\(result.error)")
            let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            #expect(lines.map(\.name) == names)
            for line in lines {
                #expect(line.unit == unit && !line.baseline.isEmpty)
                #expect(line.value > 0 && line.baselineValue > 0)
                #expect(abs(line.ratio - line.value / line.baselineValue) <= 1e-9 * line.ratio)
                #expect(line.settings["messages"] == .count(30))
                #expect(line.settings["lost"] ?? .count(0) == .count(0))
                #expect(line.settings["durability"] == .text("process"))
            }
        }
    }

    @Test("With --keys, a benchmark is measured without keys, then with keys", .timeLimit(.minutes(1)))
    func keys() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.run(
                ["bench", "roundtrip", "publish.journalled", "publish.plain", "catchup", "fanout", "--keys"]
                    + ["--messages", "30", "--rounds", "1", "--json"])
            let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            let names = [
                ["roundtrip.p50", "roundtrip.p99"], ["publish.journalled"], ["publish.plain", "publish.plain.nats"],
                ["catchup"], ["fanout"],
            ]
            #expect(lines.map(\.name) == names.flatMap { $0 + $0.map { "\($0).keys" } }, "\(result.error)")
            #expect(try await segue("bench", "start", "--keys").status == 64)
        }
    }

    @Test("With --busy, a benchmark is measured without and with a busy core", .timeLimit(.minutes(1)))
    func busy() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", "publish.plain", "navigation", "--busy", "--messages", "30", "--rounds", "1", "--json")
            let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            let names = [["publish.plain", "publish.plain.nats"], ["navigation"]]
            #expect(lines.map(\.name) == names.flatMap { $0 + $0.map { "\($0).busy" } }, "\(result.error)")
            let both = try await segue(
                "bench", "roundtrip", "--keys", "--busy", "--messages", "30", "--rounds", "1", "--json")
            #expect(both.lines.count == 8 && both.lines.last?.contains("roundtrip.p99.keys.busy") == true)
        }
    }

    @Test(
        "The process that computes is bound to one core, and ends with an interrupted benchmark",
        .timeLimit(.minutes(5)))
    func busyInterrupted() async throws {
        try await SegueCommandLine.inScratch { segue in
            // The first measurement is without the process. Both last 5 s on an idle machine, so the second one still
            // runs when it is interrupted.
            let result = try await segue.shell(
                """
                segue bench navigation --busy --messages 200 --rounds 500 --json 2>/dev/null &
                pid=$!
                until child=$(cat /proc/$pid/task/*/children 2>/dev/null) && [ "$child" ]; do sleep 0.05; done
                until grep -qs 'Cpus_allowed_list:[[:space:]]*[0-9]*$' /proc/${child% }/task/*/status; do sleep 0.05; done
                kill -INT $pid
                wait $pid
                echo "status $?"
                [ -e /proc/${child% } ] && echo "${child% } is left"
                exit 0
                """)
            #expect(result.lines.count == 2 && result.lines.last == "status 130")
        }
    }

    @Test("'segue bench' prints a table, and can make every commit wait for the disk")
    func table() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", "publish.journalled", "--messages", "30", "--rounds", "1", "--durability", "power")
            #expect(result.status == 0 && result.lines.count == 2)
            #expect(result.lines.first?.hasPrefix("NAME ") == true)
            #expect(result.lines.last?.hasPrefix("publish.journalled ") == true)
        }
    }

    @Test("An unknown benchmark is refused with the known ones")
    func unknown() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue("bench", "roundtrip", "speed")
            let names =
                "roundtrip, publish.journalled, publish.plain, catchup, fanout, coordinator, monitor, release, start, "
                + "navigation, envelope"
            #expect(result.status == 64 && result.output.isEmpty)
            #expect(result.error == "segue: there is no benchmark 'speed'; choose from \(names)\n")
            let help = try await segue("bench", "--help").output.split(whereSeparator: \.isWhitespace)
            #expect(help.joined(separator: " ").contains("\(names). (default: all)"))
        }
    }

    private struct Sessions: Decodable {
        let sessions: Int
        let coordinators: Int
        let liveSessions: Int?
        let taps: Int
        let coordinatorTime: Double
        let median: Double
        let coordinatorMemory: [Int]
        let journalSize: Int
        let takeover: Double
        let differing: Int
    }

    @Test(
        "'segue bench' measures coordinators that share sessions, and finds no state that differs",
        .timeLimit(.minutes(2)))
    func sessions() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", "sessions", "--count", "40", "--coordinators", "3", "--live-sessions", "5", "--seconds", "1",
                "--rate", "50", "--json")
            #expect(result.status == 0, "\(result.error)")
            let report = try JSONDecoder().decode(Sessions.self, from: Data(result.output.utf8))
            #expect(report.sessions == 40 && report.coordinators == 3 && report.liveSessions == 5)
            #expect(report.taps == 50 && report.differing == 0)
            #expect(report.coordinatorMemory.count == 3 && report.coordinatorMemory.allSatisfy { $0 > 0 })
            #expect(report.coordinatorTime > 0 && report.median > 0 && report.takeover > 0 && report.journalSize > 0)
            let alone = try await segue("bench", "sessions", "--coordinators", "1")
            #expect(alone.status == 64)
            #expect(alone.error == "segue: --coordinators is 1; it must be 2 to 64\n")
        }
    }

    @Test("An interrupted 'segue bench' leaves nothing", .timeLimit(.minutes(1)))
    func interrupted() async throws {
        try await SegueCommandLine.inScratch { segue in
            // The arguments of every started process contain the name of the scratch folder.
            let result = try await segue.shell(
                """
                segue bench roundtrip --messages 100000000 --json 2>/dev/null &
                pid=$!
                children() { cat /proc/$pid/task/*/children 2>/dev/null; }
                # The broker and five peers, once all have become what they shall be.
                until [ $(for child in $(children); do tr '\\0' '\\n' < /proc/$child/cmdline; done 2>/dev/null |
                    grep -c '^ipc:///var/tmp/segue-bench-\\|^/var/tmp/segue-bench-.*/proxy$') -eq 6 ]; do :; done
                children=$(children)
                scratch=$(for child in $children; do tr '\\0' '\\n' < /proc/$child/cmdline; done |
                    grep -o '/var/tmp/segue-bench-[0-9a-f]*' | head -1)
                kill -INT $pid
                wait $pid
                echo "status $?"
                for left in $scratch $(printf '/proc/%s\\n' $children); do
                    [ -e $left ] && echo "$left is left"
                done
                exit 0
                """)
            #expect(result.lines == ["status 130"])
        }
    }
}
