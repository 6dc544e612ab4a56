import CommandLineTestSupport
import Foundation
import Testing

@Suite("'segue logs' and 'segue events'")
struct LogVerbTests {
    private struct Line: Decodable {
        let service: String
        let time: String
        let stream: String
        let text: String
    }

    private struct Event: Decodable {
        let project: String
        let action: String
        let service: String?
        let pid: Int32?
        let attributes: [String: String]
    }

    /// Two services that have ended; one of them has failed.
    private static let ended = """
        name: ended
        services:
          good: {command: [sh, -c, "echo fine; echo odd >&2"]}
          bad: {command: [sh, -c, "echo broken; exit 3"], depends_on: {good: {condition: service_completed_successfully}}}
        """

    private func afterRun(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.ended)
            try await segue("up")
            try await body(segue)
        }
    }

    @Test("'segue logs' shows a line of any length as one line", .timeLimit(.minutes(1)))
    func longLine() async throws {
        try await SegueCommandLine.inScratch { segue in
            let text = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end"
            try segue.write("services: {long: {command: [sh, -c, \"\(text.replacing("\\", with: "\\\\"))\"]}}")
            let up = try await segue.shell("segue up | tee >(wc -l) >(wc -c) > /dev/null | cat")
            #expect(Set(up.lines) == ["2", "\(3_000_001 + 4 + 2 * 7)"], "\(up.error)")
            let logs = try await segue.shell("segue logs --no-log-prefix | head -n 1 | wc -c")
            #expect(logs.lines == ["3000001"])
            #expect(try await segue("logs", "-n", "1").output == "long | end\n")
        }
    }

    @Test(
        "'segue logs' shows the lines of this run and earlier ones, each with its stream and time",
        .timeLimit(.minutes(1)))
    func logs() async throws {
        try await afterRun { segue in
            let json = try await segue("logs", "--json").lines.map { line in
                try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            }
            #expect(
                Set(json.map { "\($0.service) \($0.stream) \($0.text)" })
                    == ["good stdout fine", "good stderr odd", "bad stdout broken"])
            let broken = try #require(json.last)
            #expect(broken.text == "broken")
            let stamped = try await segue("logs", "-t", "--no-log-prefix", "bad")
            #expect(stamped.output == "\(broken.time) broken\n")
            var tokyo = segue
            tokyo.environment["TZ"] = "Asia/Tokyo"
            let local = try await tokyo("logs", "-t", "--no-log-prefix", "bad")
            #expect(local.output.contains("+0900 broken\n"), "\(local.output)")
            #expect(try await tokyo("logs", "-t", "--utc", "--no-log-prefix", "bad").output == stamped.output)
            #expect(try await tokyo("--utc", "logs", "-t", "--no-log-prefix", "bad").output == stamped.output)
            try await segue("up")
            #expect(try await segue("logs", "bad", "--no-log-prefix").lines == ["broken", "broken"])
        }
    }

    @Test("'segue logs' shows a period, given by times or durations", .timeLimit(.minutes(1)))
    func period() async throws {
        try await afterRun { segue in
            let line = try await segue("logs", "--json", "bad").lines[0]
            let time = try JSONDecoder().decode(Line.self, from: Data(line.utf8)).time
            #expect(try await segue("logs", "bad", "--since", time).output == "bad | broken\n")
            #expect(try await segue("logs", "bad", "--until", time).output == "bad | broken\n")
            #expect(try await segue("logs", "--until", "1h").output == "")
            #expect(try await segue("logs", "--since", "1h").lines.count == 3)
            #expect(try await segue("logs", "--since", "2001-01-31T18:00:00+01:00", "--until", "0s").lines.count == 3)
            #expect(try await segue("logs", "--since", "2999-01-31T18:00:00Z").output == "")
            for wrong in [["--since", "yesterday"], ["-f", "--until", "1s"], ["--since", "1s", "--until", "1m"]] {
                let failure = try await segue.run(["logs"] + wrong)
                #expect(failure.status == 64 && failure.output.isEmpty)
            }
        }
    }

    @Test("'segue logs' has colours only on a terminal, unless they are disabled", .timeLimit(.minutes(1)))
    func colors() async throws {
        try await afterRun { segue in
            let colored = try await segue.shell("TERM=xterm script -qec 'segue logs bad' /dev/null </dev/null")
            #expect(colored.output.contains("\u{1B}[") && colored.output.contains("broken"))
            let plain = try await segue.shell("TERM=xterm script -qec 'segue logs --no-color bad' /dev/null </dev/null")
            #expect(plain.output == "bad | broken\r\n")
        }
    }

    @Test("'segue events' shows the events of services and project, with reasons", .timeLimit(.minutes(1)))
    func events() async throws {
        try await afterRun { segue in
            let text = try await segue("events")
            let all = text.lines.map { line in line.split(separator: " ").dropFirst().joined(separator: " ") }
            #expect(all.first?.hasPrefix("project 'ended' is supervised from now on (pid ") == true)
            #expect(all.contains("bad exited with status 3") && all.contains("bad has stopped"))
            #expect(all.last == "project 'ended' is down")
            let json = try await segue("events", "--json", "bad").lines.map { line in
                try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            }
            #expect(json.map(\.action) == ["created", "starting", "exited", "stopped"])
            #expect(json.allSatisfy { $0.project == "ended" && $0.service == "bad" })
            #expect(json[2].attributes == ["exitCode": "3"] && json[2].pid != nil)
            #expect(try await segue("events", "--until", "1h").output == "")
            #expect(try await segue("events", "nobody").status == 78)
            // The command prints the events of this run and of the next run. Then the closed pipe ends the command.
            let both = try await segue.shell("segue events -f | grep -m 2 'is down' & segue up; wait")
            #expect(both.lines.count { $0.contains("project 'ended' is down") } == 2)
        }
    }
}
