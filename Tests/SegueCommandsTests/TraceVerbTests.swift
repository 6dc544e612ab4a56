import CommandLineTestSupport
import EventBus
import Foundation
import Testing

@Suite("'segue trace'")
struct TraceVerbTests {
    private struct Row: Decodable, Equatable {
        let id: String
        let type: String
        let depth: Int
        let critical: Bool
        let trace: String?
    }

    /// A tap, two messages that it caused, published before it in reverse order, and a message whose cause is missing.
    private static func story(_ id: String) throws -> [Envelope] {
        let places: [(id: String, cause: String?)] = [
            ("\(id).2", "\(id).1"), ("\(id).1", id), (id, nil), ("\(id).3", "gone"),
        ]
        return try places.map { place in
            let type = try #require(MessageType(place.cause == nil ? "command.Tapped" : "event.Happened"))
            var attributes = Attributes(type: type, source: "service/1", id: place.id)
            attributes.time = Date(timeIntervalSince1970: 1_772_368_496 + Double(place.id.count) / 10)
            attributes.correlationID = id
            attributes.causationID = place.cause
            attributes.traceparent = TraceContext(story: id).text
            return Envelope(attributes: attributes, data: Data("{}".utf8))
        }
    }

    @Test(
        "'segue trace' shows the tree of a message, by its id or the beginning of it", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func trace(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            #expect(try await segue("trace", "--last").error.contains("no story was found"))
            let messages = try Self.story("tap-a") + Self.story("tap-b")
            try await segue.withConnection { _ = try await $0.publish(Batch(messages)) }
            for id in ["tap-b", "tap-b.2", "tap-b."] {
                let trace = try await segue("trace", id)
                #expect(trace.status == 0 && trace.error.isEmpty, "\(trace.error)")
                #expect(trace.lines.count == 6)
                #expect(trace.lines[1] == "* └─ event.Happened  service/1  +200 ms", "\(trace.output)")
                #expect(trace.lines[3].hasSuffix("its cause was not found"))
                #expect(trace.lines[4].hasPrefix("4 messages from 1 process in 200 ms"))
                #expect(trace.lines[5] == "trace \(TraceContext(story: "tap-b").traceID)")
            }
            let rows = try await segue("trace", "--last", "--json").lines.map {
                try JSONDecoder().decode(Row.self, from: Data($0.utf8))
            }
            #expect(rows.map(\.id) == ["tap-b", "tap-b.1", "tap-b.2", "tap-b.3"] && rows.map(\.depth) == [0, 1, 2, 0])
            #expect(rows.allSatisfy { $0.trace == TraceContext(story: "tap-b").traceID })
            let ambiguous = try await segue("trace", "tap")
            #expect(ambiguous.status == 1)
            #expect(ambiguous.error == "segue: 'tap' matches several stories: tap-a, tap-b; write more of the id\n")
            #expect(try await segue("trace", "nowhere").error.contains("no message with the id 'nowhere' was found"))
        }
    }

    @Test(
        "'segue trace' refuses invalid arguments in one line",
        arguments: [
            ([], "write the id of a message, or use either --last or --follow"),
            ([""], "the id is empty; write an id, or use --last"),
            (
                ["--last", "--since", "now"],
                "it has to be beginning, an offset, a time such as 2026-03-01T12:00:00Z, "
            ),
            (["--last", "--quiet", "2"], "--quiet requires --follow"),
            (["--follow", "--since", "5m"], "--follow and --since exclude each other"),
            (
                ["--follow", "--quiet", "x"],
                "'--quiet <duration>': 'x' is not a duration above zero; write a number and a unit: 500ms, 5s, 2m, 1h"
            ),
        ])
    func mistakes(arguments: [String], line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.run(["trace"] + arguments)
            #expect(result.status == 64 && result.errorLines.count == 1)
            #expect(result.error.contains(line), "\(result.error)")
        }
    }

    @Test(
        "'segue trace --last' gives up in a long journal, and reports how far it has searched", .timeLimit(.minutes(2)))
    func longJournal() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                for _ in 0..<66 {
                    let messages = (0..<1000).map { _ in
                        var attributes = Attributes(type: MessageType(kind: .event, name: "Caused"), source: "clock/1")
                        attributes.causationID = "gone"
                        return Envelope(attributes: attributes, data: Data("{}".utf8))
                    }
                    try await bus.publish(Batch(messages))
                }
            }
            let none = try await segue("trace", "--last")
            #expect(none.status == 1)
            let pattern =
                #/segue: no story was found from offset (\d+) on; search the whole journal with --since beginning\n/#
            let offset = try #require(none.error.wholeMatch(of: pattern).flatMap { UInt64($0.1) }, "\(none.error)")
            #expect((1...1000).contains(offset))
            let whole = try await segue("trace", "--last", "--since", "beginning")
            #expect(whole.error == "segue: no story was found; see 'segue trace --follow'\n")
            try await segue.withConnection { bus in
                let attributes = Attributes(type: MessageType(kind: .event, name: "Tick"), source: "clock/1")
                _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            }
            let story = try await segue("trace", "--last")
            #expect(story.lines.first?.hasPrefix("* event.Tick  clock/1  ") == true, "\(story.output)")
            #expect(story.error.hasPrefix("segue: no person began a story from offset "), "\(story.error)")
        }
    }

    @Test(
        "'segue trace' waits for the next story, and follows it to its end", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func follow(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            let follow = try await segue.shell(
                """
                mkfifo told
                segue trace --follow --quiet 0.2 2>told & pid=$!
                read -r line < told; echo "$line"
                segue send command.ScreenDisplayed '{"revision": 1}' > sent
                segue send command.Tapped > sent
                wait $pid
                """)
            #expect(follow.status == 0)
            #expect(follow.lines.first == "segue: waiting for the next story")
            #expect(follow.lines.count == 4 && follow.lines[1].contains("* command.Tapped  segue/"), "\(follow.output)")
        }
    }

    @Test(
        "'segue trace' redraws a story that is longer than the terminal, and shows all of it at the end",
        .timeLimit(.minutes(1)))
    func longStory() async throws {
        try await SegueCommandLine.onBus { segue in
            try segue.write("stty rows 6 cols 60; exec segue trace --follow --quiet 0.5", to: "session")
            let begun = try await segue.shell(
                """
                script -qfc "bash session" screen < /dev/null > /dev/null 2>&1 & echo $! > pid
                grep -q -m1 waiting <(exec tail -n +1 -F screen 2> missing)
                """)
            try #require(begun.status == 0, "\(begun.error)")
            try await segue.withConnection { bus in
                // The messages are published one by one, so that the story is drawn several times.
                for message in try Self.wideStory("tap") { _ = try await bus.publish(Batch([message])) }
            }
            let result = try await segue.shell("tail --pid=$(cat pid) -f /dev/null; cat screen")
            let ups = result.output.matches(of: #/\u{1B}\[(\d+)A/#).compactMap { Int($0.1) }
            #expect(!ups.isEmpty && ups.allSatisfy { $0 < 6 }, "\(result.output)\(result.error)")
            let last = result.output.components(separatedBy: "\u{1B}[J").last ?? ""
            #expect(last.components(separatedBy: "Happened").count == 9, "\(result.output)")
        }
    }

    /// A tap and eight messages that it caused.
    private static func wideStory(_ id: String) throws -> [Envelope] {
        try (0...8).map { number in
            let type = try #require(MessageType(number == 0 ? "command.Tapped" : "event.Happened"))
            var attributes = Attributes(type: type, source: "service/1", id: number == 0 ? id : "\(id).\(number)")
            attributes.correlationID = id
            attributes.causationID = number == 0 ? nil : id
            return Envelope(attributes: attributes, data: Data("{}".utf8))
        }
    }
}
