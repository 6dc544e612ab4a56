import CommandLineTestSupport
import Contracts
import Foundation
import Testing

@Suite("'segue monitor --stats' and 'segue top'")
struct StatisticsVerbTests {
    private static let presence = """
        {"name":"music-service","version":"1.2","instance":"ab","pid":7,"receives":[],"sends":[]}
        """

    /// A bus with some messages, and the presence of a process.
    private func onBus(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await SegueCommandLine.onBus { segue in
            for _ in 0..<3 { try await segue("send", "event.PlaylistShuffled", #"{"playlistID": "p1"}"#) }
            try await segue("send", "command.PlaylistSelected")
            try await segue("send", "document.Presence", Self.presence, "--key", "ab")
            try await segue("send", "event.MessageDiscarded", #"{"messageID": "m1", "reason": "late"}"#)
            try await body(segue)
        }
    }

    private struct Report: Decodable {
        struct OfType: Decodable {
            let type: String
            let count: Int
            let rate: Double
            let recovered: Int
            let p50: Double?
        }

        struct OfService: Decodable, Equatable {
            let service: String
            let instance: String
            let handled: Int?
            let failed: Int?
            let lag: Int?
        }

        let types: [OfType]
        let services: [OfService]
        let discarded: Int
    }

    @Test("'segue monitor --stats' sums up the journal, as a table and as JSON", .timeLimit(.minutes(1)))
    func journal() async throws {
        try await onBus { segue in
            let arguments = ["monitor", "--stats", "--since", "beginning", "--until", "end", "--kind", "event"]
            let silent = try await segue.run(arguments)
            #expect(silent.output.contains(#/music-service/ab +– +– +–\n/#), "\(silent.output)")
            let metrics = DomainEvent.MetricsReported(instance: "ab", handled: 12, failed: 1, lag: 3)
            let (table, json) = try await segue.whileReporting(metrics) {
                (try await segue.run(arguments), try await segue.run(arguments + ["--json"]))
            }
            #expect(table.status == 0 && table.error.isEmpty, "\(table.error)")
            #expect(table.lines[0].hasPrefix("TYPE "))
            #expect(table.output.contains(#/event.PlaylistShuffled +3 /#), "\(table.output)")
            #expect(!table.output.contains("command."))
            #expect(table.output.contains(#/music-service/ab +12 +1 +3\n/#))
            #expect(table.output.hasSuffix("\nmessages discarded: 1\n"))

            let report = try JSONDecoder().decode(Report.self, from: Data((json.lines.last ?? "").utf8))
            #expect(report.types.map(\.type) == ["event.PlaylistShuffled", "event.MessageDiscarded"])
            #expect(report.types.map(\.count) == [3, 1] && report.discarded == 1)
            #expect(
                report.types.allSatisfy { $0.p50 == nil && $0.recovered == 0 }, "they are older than the statistics")
            #expect(
                report.services == [
                    .init(service: "music-service", instance: "ab", handled: 12, failed: 1, lag: 3)
                ])
        }
    }

    @Test(
        "'segue monitor --stats' measures how long messages take, and prints it after each interval",
        .timeLimit(.minutes(1)))
    func latency() async throws {
        try await onBus { segue in
            let output = try await segue.shell(
                """
                touch reports
                segue monitor --stats --interval 20ms --since 7 --count 1 --type event.New --json > reports & monitor=$!
                # It counts once it has reported.
                grep -q -m1 seconds <(exec tail -n +1 -f reports)
                segue send event.New > sent
                wait $monitor && tail -n 1 reports
                """)
            let report = try JSONDecoder().decode(Report.self, from: Data(output.output.utf8))
            #expect(report.types.map(\.type) == ["event.New"])
            #expect((0..<10_000).contains(try #require(report.types[0].p50)))
        }
    }

    @Test("Statistics are one table in a pipe, and one object as JSON", .timeLimit(.minutes(1)))
    func once() async throws {
        try await onBus { segue in
            let table = try await segue("top", "--interval", "50ms")
            #expect(table.status == 0 && table.output.contains("music-service/ab"), "\(table.error)")
            #expect(!table.output.contains("\u{1B}"))
            let json = try await segue("top", "--json", "--interval", "50ms")
            #expect(json.lines.count == 1)
            #expect(try JSONDecoder().decode(Report.self, from: Data(json.output.utf8)).services.count == 1)
        }
    }

    @Test("'segue top' restores the terminal when it ends", .timeLimit(.minutes(1)), arguments: ["q", "\u{3}"])
    func terminal(key: String) async throws {
        try await onBus { segue in
            try segue.write("trap : INT; segue top --interval 50ms; echo status $?; stty -a", to: "session")
            let result = try await segue.shell(
                """
                mkfifo keys; exec 3<> keys; touch screen
                script -qfc "bash session" screen < keys > /dev/null & session=$!
                grep -q -m1 music-service <(exec tail -n +1 -f screen)
                printf '\(key == "q" ? "q" : #"\003"#)' >&3
                wait $session; cat screen
                """)
            let parts = result.output.split(separator: "status ", maxSplits: 1).map(String.init)
            try #require(parts.count == 2, "\(result.output)\(result.error)")
            #expect(parts[0].contains("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[1mTYPE"), "\(parts[0])")
            #expect(parts[0].hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
            #expect(parts[1].hasPrefix(key == "q" ? "0" : "130"))
            #expect(parts[1].contains(" icanon") && parts[1].contains(" echo "))
        }
    }

    @Test("'segue top' restores the terminal while it is suspended, and takes it again", .timeLimit(.minutes(1)))
    func stopped() async throws {
        try await onBus { segue in
            try segue.write(
                """
                set -m
                segue top --interval 2s
                stty -a
                fg
                echo "status $?"
                stty -a
                """, to: "session")
            let result = try await segue.shell(
                """
                mkfifo keys; exec 3<> keys; touch screen
                script -qfc "bash session" screen < keys > /dev/null & session=$!
                grep -q -m1 music-service <(exec tail -n +1 -f screen)
                printf '\\032' >&3
                # It has the screen again, long before an interval is over.
                again() { tail --pid=$session -n +1 -f screen | stdbuf -o0 tr '\\033' '\\n' | sed -u '1,/ -*icanon/d'; }
                grep -q -m1 -F '[?1049h' <(again)
                printf q >&3
                wait $session; cat screen
                """)
            let screens = result.output.components(separatedBy: "\u{1B}[?1049h")
            try #require(screens.count >= 3, "\(result.output)\(result.error)")
            let parts = screens[1].components(separatedBy: "\u{1B}[?25h\u{1B}[?1049l")
            try #require(parts.count == 2, "\(result.output)")
            #expect(parts[0].contains("music-service") && !parts[1].contains("music-service"))
            // The totals are always drawn at the end.
            let draws = screens[2...].joined().components(separatedBy: "\u{1B}[H\u{1B}[1mTYPE").count - 1
            #expect(draws >= 2, "it is drawn at once: \(result.output)")
            #expect(parts[1].contains(" icanon") && parts[1].contains(" echo "), "\(parts[1])")
            let end = result.output.components(separatedBy: "status ").last ?? ""
            #expect(end.hasPrefix("0") && end.contains(" icanon") && end.contains(" echo "), "\(result.output)")
        }
    }

    @Test("'segue monitor --stats' draws its table over the former one", .timeLimit(.minutes(1)))
    func inPlace() async throws {
        try await onBus { segue in
            try segue.write("exec segue monitor --stats --since beginning --interval 20ms", to: "session")
            let result = try await segue.shell(
                """
                mkfifo keys; exec 3<> keys; touch screen
                script -qfc "bash session" screen < keys > /dev/null & session=$!
                # Up some lines: it draws again.
                grep -q -m1 -P '\\x1b\\[\\d+A' <(exec tail -n +1 -f screen)
                printf '\\003' >&3
                wait $session; cat screen
                """)
            #expect(result.output.contains("event.PlaylistShuffled"), "\(result.error)")
            #expect(result.output.contains(#/\u{1B}\[J\u{1B}\[\d+A\u{1B}\[1mTYPE/#), "\(result.output)")
            #expect(!result.output.contains("\u{1B}[?1049h"))
        }
    }
}
