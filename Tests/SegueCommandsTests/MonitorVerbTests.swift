import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("'segue monitor'")
struct MonitorVerbTests {
    /// A bus with some messages on it.
    private func onBus(
        _ engine: BusEngine = .broker, _ body: (SegueCommandLine) async throws -> Void
    ) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            try await segue("send", "command.PlaylistSelected", #"{"playlistID": "p1", "at": "a,b"}"#)
            try await segue("send", "event.PlaylistShuffled", #"{"playlistID": "p1"}"#, "--subject", "alice")
            try await segue("send", "event.PlaylistShuffled", #"{"playlistID": "p2", "n": 1.50}"#)
            try await segue("send", "document.Devices", #"{"devices": []}"#)
            try await body(segue)
        }
    }

    private let all = ["monitor", "--since", "beginning", "--until", "end"]

    @Test(
        "'segue monitor' shows the messages that match every filter and condition, up to the journal's end",
        .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func selection(engine: BusEngine) async throws {
        try await onBus(engine) { segue in
            let offsets = try await segue.offsets
            for (arguments, numbers) in [
                ([], "1 2 3 4"), (["--kind", "event"], "2 3"), (["--type", "event.*", "--subject", "alice"], "2"),
                (["--source", "segue"], "1 2 3 4"), (["--source", "device/*"], ""),
                (["--where", #"data.playlistID == "p1" and kind != event"#], "1"),
                (["--where", "data.n > 1", "--where", "kind == event"], "3"),
                (["--type", "command.None"], ""), (["--count", "2"], "1 2"),
            ] {
                let result = try await segue.run(all + ["--field", "position.offset"] + arguments)
                #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
                #expect(Self.numbers(of: result, among: offsets) == numbers, "\(arguments)")
            }
            let second = "\(offsets[1])"
            let story = try await segue("monitor", "--since", second, "--until", second, "--field", "correlationid")
            let again = try await segue.run(all + ["--correlation", story.lines[0], "--field", "position.offset"])
            #expect(again.output == "\(second)\n")
        }
    }

    /// The places of the offsets that were printed among all offsets, beginning with 1.
    private static func numbers(of result: SegueCommandLine.Result, among offsets: [UInt64]) -> String {
        result.lines.map { line in
            UInt64(line).flatMap(offsets.firstIndex).map { "\($0 + 1)" } ?? line
        }.joined(separator: " ")
    }

    @Test("'segue monitor' shows happenings on a terminal, and messages in a pipe or with options for these")
    func terminal() async throws {
        try await onBus { segue in
            let first = "\(try await segue.offsets[0])"
            let story = try await segue("monitor", "--since", first, "--until", first, "--field", "correlationid")
            var terminal = segue
            terminal.environment = ["TERM": "xterm", "NO_COLOR": "1"]
            func shown(_ options: String) async throws -> String {
                let command = "segue monitor --since beginning --until end \(options)"
                try segue.write(command, to: "monitor.sh")
                let result = try await terminal.shell("script -qec 'bash monitor.sh' /dev/null </dev/null")
                #expect(result.status == 0, "\(options): \(result)")
                return result.output
            }
            for options in ["", "--session alice", "--correlation \(story.lines[0])", "--for 10s", "--color never"] {
                let output = try await shown(options)
                #expect(output.contains("send    segue "), "\(options): \(output)")
                #expect(!output.contains("command.") && !output.contains("event."), "\(options): \(output)")
            }
            for options in [
                "--all", "-v", "--json", "--raw", "--csv", "--field data.playlistID", "--template '{type}'",
                "--type 'event.*'", "--kind command", "--exclude 'document.*'", "--source segue", "-n 9",
                "--where 'kind == event'",
            ] {
                let parts = options.split(separator: " ", maxSplits: 1).map { $0.filter { $0 != "'" } }
                let piped = try await segue.run(all + parts)
                let output = try await shown(options)
                let lines = output.split(separator: "\r\n").map(String.init)
                #expect(lines == piped.lines.filter { !$0.isEmpty }, "\(options): \(output)")
            }
            let piped = try await segue.run(all)
            #expect(piped.lines.count == 4 && piped.lines[0].contains(" command.PlaylistSelected segue/"), "\(piped)")
        }
    }

    @Test(
        "'segue monitor' begins and ends at the given positions", .timeLimit(.minutes(1)), arguments: BusEngine.allCases
    )
    func span(engine: BusEngine) async throws {
        try await onBus(engine) { segue in
            let offsets = try await segue.offsets
            for (arguments, numbers) in [
                (["--since", "\(offsets[2])", "--until", "end"], "3 4"),
                (["--since", "beginning", "--until", "\(offsets[1])"], "1 2"),
                (["--last", "--until", "end"], "1 3 4"), (["--since", "last", "--until", "end"], "1 3 4"),
                (["--since", "retained", "--until", "end"], "4"), (["--until", "end"], ""),
                (["--since", "2020-01-01T00:00:00Z", "--until", "end"], "1 2 3 4"),
                (["--since", "1h", "--until", "2020-01-01T00:00:00Z"], ""),
                (["--since", "beginning", "--for", "200ms"], "1 2 3 4"),
            ] {
                let result = try await segue.run(["monitor", "--field", "position.offset"] + arguments)
                #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
                #expect(Self.numbers(of: result, among: offsets) == numbers, "\(arguments)")
            }
        }
    }

    @Test(
        "'segue monitor' refuses a beginning beyond the journal's end", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func behind(engine: BusEngine) async throws {
        try await onBus(engine) { segue in
            let end = try #require(try await segue.offsets.last)
            #expect(try await segue("monitor", "--since", "\(end + 1)", "--until", "end").status == 0)
            let behind = try await segue("monitor", "--since", "\(end + 2)", "--until", "end")
            #expect(
                behind.error == "segue: there is no message at offset \(end + 2) yet: the journal ends at \(end)\n")
            #expect(behind.status == 65)
        }
    }

    @Test("'segue monitor' writes fields, tables, raw data, templates and JSON", .timeLimit(.minutes(1)))
    func formats() async throws {
        try await onBus { segue in
            let show = { (arguments: [String]) in
                try await segue.run(all + ["--kind", "command", "--kind", "event"] + arguments).output
            }
            #expect(try await show(["--field", "data.playlistID"]) == "p1\np1\np2\n")
            #expect(try await show(["--field", "name", "--field", "data.n"]).hasSuffix("PlaylistShuffled\t1.50\n"))
            #expect(
                try await show(["--csv", "--field", "data.at", "--field", "data.n"])
                    == "data.at,data.n\n\"a,b\",\n,\n,1.50\n")
            #expect(
                try await show(["--csv"]).hasPrefix(
                    "position.offset,time,type,key,subject,source,id,correlationid,data\n1,"))
            #expect(try await show(["--raw"]).hasSuffix("{\"playlistID\":\"p2\",\"n\":1.50}\n"))
            #expect(
                try await show(["--template", "{subject}: {{{data.playlistID}}}"])
                    == "default: {p1}\nalice: {p1}\ndefault: {p2}\n")
            let lines = try await show(["--json"]).split(separator: "\n")
            #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
            #expect(try await show([]).contains(" event.PlaylistShuffled @alice segue/"))
            #expect(try await !show([]).contains("\u{1B}"), "no colour where there is no terminal")
            #expect(try await show(["--color", "always"]).contains("\u{1B}[32mevent\u{1B}[0m."))
            #expect(try await show(["-v", "--count", "1"]).contains("\n    position: "))
        }
    }

    @Test("'segue monitor' reports discarded messages even if others are selected", .timeLimit(.minutes(1)))
    func discards() async throws {
        try await onBus { segue in
            try await segue("send", "event.MessageDiscarded", #"{"messageID": "m1", "reason": "it came too late"}"#)
            let result = try await segue.run(all + ["--kind", "command", "--field", "name"])
            #expect(result.output == "PlaylistSelected\n")
            #expect(result.error == "segue: message m1 was discarded: it came too late\n")
            #expect(try await segue.run(all).error.isEmpty)
        }
    }

    @Test("'segue monitor' begins at once, and shows all of many concurrent messages", .timeLimit(.minutes(2)))
    func many() async throws {
        try await SegueCommandLine.onBus { segue in
            let count = 20_000
            try await publish(count, segue)
            let file = "\(segue.directory)/all.json"
            let result = try await segue.shell(
                "segue monitor --since beginning --until end --json > \(file); wc -l < \(file)")
            #expect(result.output == "\(count)\n")
            let raw = try await segue.run(all + ["--raw"])
            #expect(raw.lines == (0..<count).map { "{\"n\":\($0)}" })
        }
    }

    @Test("'segue monitor' begins with the last message of each type, however old it is", .timeLimit(.minutes(1)))
    func lastOfEachType() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue("send", "command.Early", "--subject", "alice")
            try await publish(3000, segue)
            let last = ["monitor", "--last", "--until", "end", "--template", "{name} {data.n}"]
            #expect(try await segue.run(last).output == "Early \nMany 2999\n")
            #expect(try await segue.run(last + ["--where", "data.n == 7"]).output == "Many 7\n")
            #expect(try await segue.run(last + ["--session", "alice"]).output == "Early \n")
            #expect(try await segue("trace", "--last").lines.count == 3)
        }
    }

    private func publish(_ count: Int, _ segue: SegueCommandLine) async throws {
        try await segue.withConnection { bus in
            for start in stride(from: 0, to: count, by: 500) {
                let type = MessageType(kind: .event, name: "Many")
                let messages = (start..<start + 500).map { number in
                    Envelope(
                        attributes: Attributes(type: type, source: "test/1"), data: Data("{\"n\":\(number)}".utf8))
                }
                try await bus.publish(Batch(messages))
            }
        }
    }

    @Test(
        "'segue monitor' names coordinators by platform, including ended and recorded ones",
        .timeLimit(.minutes(1)))
    func platforms() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                for (instance, platform) in [("c0", "ios"), ("c1", "ios"), ("c2", "mac")] {
                    let flow = Document.Flow(platform: platform, name: "shop", version: 1, hash: "h", source: "")
                    let source = "navigation-coordinator/\(instance)"
                    _ = try await bus.publish(Batch([try Envelope(flow, source: source)]))
                    let event = Envelope(
                        attributes: Attributes(type: MessageType(kind: .event, name: "Tick"), source: source),
                        data: Data("{}".utf8))
                    _ = try await bus.publish(Batch([event]))
                }
            }
            let names = [
                "navigation-coordinator (ios)", "navigation-coordinator (ios)", "navigation-coordinator (mac)",
            ]
            let shown = try await segue.run(all + ["--type", "event.Tick"])
            #expect(shown.lines.map { $0.dropFirst(13) } == names.map { "event.Tick \($0) → {}" }, "\(shown.output)")
            let details = try await segue.run(all + ["--type", "event.Tick", "-v", "-n", "1"])
            #expect(details.output.contains("\n    source: navigation-coordinator/c0\n"), "\(details.output)")
            let story = try await segue("trace", "--last")
            #expect(story.lines.first?.hasPrefix("* event.Tick  navigation-coordinator (mac)  ") == true)
            try await segue("record", "story.jsonl", "--since", "beginning", "--until", "end")
            let recorded = try await segue("record", "info", "story.jsonl")
            let sources = recorded.lines.drop { !$0.hasPrefix("source") }.dropFirst()
            #expect(
                Set(sources.map { $0.split(separator: "  ")[0] }) == Set(names.map { $0[...] }), "\(recorded.output)")
        }
    }

    @Test("'segue monitor' names a coordinator that starts while it runs", .timeLimit(.minutes(1)))
    func newPlatform() async throws {
        try await SegueCommandLine.onBus { segue in
            let begun = try await segue.shell(
                """
                segue monitor --type event.Tick --type event.Begun > shown < /dev/null & echo $! > monitor
                until [ -s shown ]; do segue send event.Begun > sent; done
                """)
            try #require(begun.status == 0, "\(begun.error)")
            try await segue.withConnection { bus in
                let flow = Document.Flow(platform: "tv", name: "shop", version: 1, hash: "h", source: "")
                _ = try await bus.publish(Batch([try Envelope(flow, source: "navigation-coordinator/c9")]))
                let attributes = Attributes(
                    type: MessageType(kind: .event, name: "Tick"), source: "navigation-coordinator/c9")
                _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            }
            let ended = try await segue.shell("grep -m1 Tick <(exec tail -n +1 -f shown); kill $(cat monitor)")
            #expect(ended.lines.first?.hasSuffix(" event.Tick navigation-coordinator (tv) → {}") == true)
        }
    }

    @Test("'segue monitor' reads and shows times in the local zone, and with --utc in UTC", .timeLimit(.minutes(1)))
    func zones() async throws {
        try await SegueCommandLine.onBus { segue in
            var tokyo = segue
            tokyo.environment["TZ"] = "Asia/Tokyo"
            let time = try #require(Timestamp.date(from: "2026-03-01T12:34:56.789Z"))
            try await segue.withConnection { bus in
                var attributes = Attributes(type: MessageType(kind: .event, name: "Tick"), source: "clock/1", id: "t1")
                attributes.time = time
                attributes.correlationID = "t1"
                _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            }
            for (zone, local) in [(segue, "12:34:56.789"), (tokyo, "21:34:56.789")] {
                for (option, expected) in [([], local), (["--utc"], "12:34:56.789")] {
                    for verb in [all, ["trace", "t1"], ["describe", "event.Tick"]] {
                        let shown = try await zone.run(verb + option)
                        #expect(shown.status == 0 && shown.output.contains(expected), "\(verb) \(shown)")
                    }
                }
            }
            let early = ["monitor", "--since", "1", "--until", "2026-03-01 13:00", "--field", "id"]
            #expect(try await segue.run(early).output == "t1\n")
            #expect(try await tokyo.run(early).output == "", "this is four o'clock in UTC")
            #expect(try await tokyo.run(early + ["--utc"]).output == "t1\n")
        }
    }

    @Test(
        "Every verb that shows or reads times has the option --utc",
        arguments: [
            "monitor", "trace", "send", "logs", "events", "describe", "dead list", "dead show", "record to",
            "record info", "replay",
            "flow run",
        ])
    func utcHelp(verb: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let words = verb.split(separator: " ").map(String.init)
            let help = try await segue.run(words + ["--help"])
            #expect(help.output.contains("--utc"))
            let other = try await segue("ps", "--utc")
            #expect(other.error.contains("Unknown option '--utc'"), "\(other.error)")
        }
    }

    @Test(
        "'segue monitor' refuses invalid arguments in one line",
        arguments: [
            (["--where", "data.playlistID =="], "segue: --where: expected a value after '==' (column 19)"),
            (["--where", "tpye == x"], "segue: --where: there is no attribute 'tpye'; did you mean type? (column 1)"),
            (["--field", "dta.x"], "segue: --field: there is no attribute 'dta'; did you mean data? (column 1)"),
            (
                ["--template", "{time"],
                "segue: --template: '{' is not closed; add '}', or write '{{' for a brace (column 1)"
            ),
            (["--json", "--field", "id"], "segue: --json and --field exclude each other"),
            (["--raw", "--csv"], "segue: --raw and --csv exclude each other"),
            (["--last", "--since", "5m"], "segue: --last and --since exclude each other"),
            (["--count", "0"], "'--count <number>': it has to be a whole number above zero"),
            (["--count", "x"], "'--count <number>': it has to be a whole number above zero"),
            (
                ["--since", "5x"],
                "'--since <start>': it has to be now, beginning, retained, last, an offset, a time such"
            ),
            (
                ["--until", "now"],
                "'--until <end>': it has to be end, an offset, a time such as 2026-03-01T12:00:00Z, "
            ),
            (
                ["--for", "x"],
                "'--for <duration>': 'x' is not a duration above zero; write a number and a unit: 500ms, 5s, 2m, 1h"
            ),
            (["--type", "a.b"], "'--type <pattern>': it has to be a type such as command.PlaylistSelected, or a"),
            (["--source", ""], "'--source <pattern>': it has to be a process such as music-service, or a pattern"),
            (["--kind", "x"], "'--kind <kind>'. Please provide one of "),
            (["--kind", "query"], "segue: a query goes only to the process that answers it; use 'segue ask'"),
            (["--type", "query.*"], "segue: a query goes only to the process that answers it; use 'segue ask'"),
            (["--subject", ""], "segue: the value of --session is empty; omit the option to select all messages"),
            (["--interval", "1s"], "segue: --interval requires --stats"),
            (["--stats", "-v"], "segue: --verbose and --stats exclude each other"),
            (["--json", "-v"], "segue: --verbose and --json exclude each other"),
        ])
    func mistakes(arguments: [String], line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.run(["monitor"] + arguments)
            #expect(result.status == 64)
            #expect(result.errorLines.count == 1 && result.error.contains(line), "\(result.error)")
        }
    }
}

@Suite("'segue monitor' after a pause")
struct MonitorLossTests {
    /// The number of messages; half of them exceed the capacity of the queues between two processes.
    private static let count = 40_000

    @Test(
        "'segue monitor' shows all messages that the feed dropped during a pause, and reports it",
        .timeLimit(.minutes(2)))
    func recovered() async throws {
        try await SegueCommandLine.onBus { segue in
            let begun = try await segue.shell(
                """
                segue monitor --type event.Many --field data.n > shown 2> told < /dev/null & echo $! > monitor
                until [ -s shown ]; do segue send event.Many '{"n": "first"}' > sent; done
                kill -STOP $(cat monitor)
                """)
            try #require(begun.status == 0, "\(begun.error)")
            try await segue.withConnection { bus in
                try await publish(0..<Self.count / 2, on: bus)
                _ = try await segue.shell("kill -CONT $(cat monitor)")
                // When one of these messages arrives, the monitor notices that earlier messages are missing.
                try await publish(Self.count / 2..<Self.count, on: bus)
            }
            let ended = try await segue.shell(
                """
                grep -E -m \(Self.count) '^[0-9]+$' <(exec tail -n +1 -f shown)
                grep -q -m1 dropped <(exec tail -n +1 -f told)
                kill $(cat monitor)
                """)
            #expect(ended.lines.compactMap { Int($0) }.sorted() == Array(0..<Self.count))
            let told = try String(contentsOfFile: segue.directory + "/told", encoding: .utf8)
            let lines = told.matches(of: #/segue: the feed dropped (\d+) event.Many; read from the journal instead\n/#)
            let lost = lines.compactMap { Int($0.1) }.reduce(0, +)
            #expect((1..<Self.count).contains(lost), "\(told)")
        }
    }

    /// Messages with alternating topics, so that the feed cannot send them together.
    private func publish(_ numbers: Range<Int>, on bus: EventBus) async throws {
        let type = MessageType(kind: .event, name: "Many")
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let messages = (start..<start + 500).map { number in
                Envelope(
                    attributes: Attributes(type: type, source: "test/1", subject: "session-\(number % 3)"),
                    data: Data("{\"n\":\(number)}".utf8))
            }
            try await bus.publish(Batch(messages))
        }
    }
}
