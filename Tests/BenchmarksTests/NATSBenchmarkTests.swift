import CommandLineTestSupport
import Foundation
import Testing

/// Runs the benchmarks of a bus on NATS. The figures of a debug build are not checked.
@Suite("'segue bench --bus nats'")
struct NATSBenchmarkTests {
    private struct Line: Decodable {
        struct Settings: Decodable {
            let bus: String
            let replicas: Int
            let messages: Int
            let durability: String
            let lost: Int?
            let misordered: Int?
            let baselineLost: Int?
            let sessions: Int?
        }

        let name: String
        let value: Double
        let baseline: String
        let baselineValue: Double
        let settings: Settings
    }

    private func lines(_ output: [String]) throws -> [Line] {
        try output.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test(
        "The benchmark on NATS measures the same, and compares it with C on libnats", .timeLimit(.minutes(2)),
        arguments: [
            ("roundtrip", ["roundtrip.p50", "roundtrip.p99"]), ("publish.journalled", ["publish.journalled"]),
            ("publish.plain", ["publish.plain"]), ("catchup", ["catchup", "catchup.transfer"]), ("fanout", ["fanout"]),
        ])
    func compares(benchmark: String, names: [String]) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", benchmark, "--bus", "nats", "--messages", "250", "--rounds", "1", "--json")
            #expect(result.status == 0, "\(result.error)")
            let lines = try lines(result.lines)
            #expect(lines.map(\.name) == names)
            for line in lines {
                #expect(line.value > 0 && line.baselineValue > 0)
                #expect(line.baseline.hasPrefix("C on libnats: the same messages on the same servers"))
                #expect(line.settings.bus == "nats" && line.settings.replicas == 1 && line.settings.messages == 250)
                #expect(line.settings.lost ?? 0 == 0 && line.settings.misordered ?? 0 == 0)
                #expect(line.settings.baselineLost ?? 0 == 0)
            }
            // Only batches of different partitions are on their way at the same time.
            if benchmark == "publish.journalled" { #expect(lines.first?.settings.sessions == 64) }
        }
    }

    @Test(
        "The programs on NATS are measured too", .timeLimit(.minutes(3)),
        arguments: ["coordinator", "monitor", "release", "start"])
    func programs(benchmark: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", benchmark, "--bus", "nats", "--messages", "30", "--rounds", "1", "--json")
            #expect(result.status == 0, "\(result.error)")
            let lines = try lines(result.lines)
            #expect(lines.count == (benchmark == "coordinator" ? 2 : 1))
            #expect(lines.allSatisfy { $0.value > 0 && $0.settings.bus == "nats" && $0.settings.lost ?? 0 == 0 })
        }
    }

    @Test("Each message is stored on three servers, which wait for the disk", .timeLimit(.minutes(3)))
    func cluster() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", "publish.journalled", "--bus", "nats", "--servers", "3", "--durability", "power", "--messages",
                "250", "--rounds", "1", "--json")
            #expect(result.status == 0, "\(result.error)")
            let line = try #require(try lines(result.lines).first)
            #expect(line.settings.replicas == 3 && line.settings.durability == "power")
            #expect(line.value > 0 && line.baselineValue > 0)
        }
    }

    private struct Sessions: Decodable {
        let bus: String
        let replicas: Int
        let taps: Int
        let differing: Int
        let brokerTime: Double
        let journalSize: Int
    }

    @Test(
        "Coordinators that share sessions on three servers are measured, and no state differs",
        .timeLimit(.minutes(3)))
    func sessions() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue(
                "bench", "sessions", "--bus", "nats", "--servers", "3", "--count", "40", "--seconds", "1", "--rate",
                "50", "--json")
            #expect(result.status == 0, "\(result.error)")
            let report = try JSONDecoder().decode(Sessions.self, from: Data(result.output.utf8))
            #expect(report.bus == "nats" && report.replicas == 3 && report.taps == 50 && report.differing == 0)
            #expect(report.brokerTime > 0 && report.journalSize > 0)
        }
    }

    @Test("A benchmark leaves nothing on servers that are running", .timeLimit(.minutes(2)))
    func runningServer() async throws {
        try await SegueCommandLine.inScratch { segue in
            let program = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../.build/nats-server")
                .standardizedFileURL.path
            // Port -1 is any free port, which the server writes to a file.
            let result = try await segue.shell(
                """
                printf 'max_payload: 9MB\\nlisten: "127.0.0.1:-1"\\njetstream { store_dir: "%s/store" }\\n' $PWD >nats.conf
                echo "ports_file_dir: \\"$PWD\\"" >>nats.conf
                '\(program)' -c nats.conf -l log &
                server=$!
                trap 'kill $server' EXIT
                until ls *.ports >/dev/null 2>&1; do sleep 0.05; done
                url=$(grep -o 'nats://127.0.0.1:[0-9]*' *.ports | head -1)
                segue bench roundtrip --bus $url --messages 30 --rounds 1 --json || exit
                ls store/jetstream/*/streams 2>/dev/null
                true
                """)
            #expect(result.status == 0, "\(result.error)")
            #expect(try lines(result.lines).map(\.name) == ["roundtrip.p50", "roundtrip.p99"])
        }
    }

    @Test(
        "Options that contradict each other are refused with a reason",
        arguments: [
            (["--servers", "3"], "--servers is for NATS; add --bus nats"),
            (["--bus", "nats", "--servers", "2"], "--servers is 2; it must be 1, 3 or 5"),
            (["--bus", "amqp://host"], "--bus is 'amqp://host'; it must be ipc, nats or an address such as"),
            (["--bus", "nats://host", "--durability", "power"], "--durability is not for running servers; set"),
            (["--bus", "tls://host"], "--bus must be nats:// without a name after the hosts"),
        ])
    func options(arguments: [String], error: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            for command in [["bench", "roundtrip"], ["bench", "sessions"]] {
                let result = try await segue.run(command + arguments)
                #expect(result.status == 64 && result.output.isEmpty)
                #expect(result.error.hasPrefix("segue: \(error)"), "\(result.error)")
                #expect(result.errorLines.count == 1)
            }
        }
    }
}
