import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Conditions of a rule")
struct ConditionTests {
    /// True if a rule with this condition on the field `song.year` matches the data.
    private func matches(_ match: Flow.Match, _ year: JSONValue?) throws -> Bool {
        let flow = try Flow("years", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(on: "event.Go", where: ["song.year": match], do: [.push("a")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        var session = Session(flow)
        session.send("event.Go", ["song": .object(year.map { ["year": $0] } ?? [:])])
        return !session.path.isEmpty
    }

    @Test("A condition can compare a field with values, with bounds, or for its presence")
    func operators() throws {
        let cases: [(Flow.Match, [JSONValue?], [JSONValue?])] = [
            (1999, [1999, 1999.0], [2000, "1999", .null, nil]),
            (["a", 2, .null], ["a", 2, .null], ["2", nil]),
            (.value([1, 2]), [[1, 2]], [1, [1], nil]),
            (.value(["a": 1]), [["a": 1]], [["a": 2], 1]),
            (.not("a", "b"), ["c", .null, nil], ["a", "b"]),
            (.exists(true), [0, false, ""], [.null, nil]),
            (.exists(false), [.null, nil], [0, false, ""]),
            (.atLeast(3), [3, 3.5, 4], [2.9, "4", .null, nil]),
            (.atMost(3), [3, -1], [3.1, "1", nil]),
            (Flow.Match(atLeast: 1, atMost: 2), [1, 1.5, 2], [0, 3]),
            (Flow.Match(noneOf: [5], exists: true, atLeast: 3), [3, 6], [5, 2, nil]),
            (Flow.Match(anyOf: [1, 2, 3], noneOf: [2]), [1, 3], [2, 4]),
        ]
        for (match, fitting, others) in cases {
            for year in fitting { #expect(try matches(match, year), "\(match) \(String(describing: year))") }
            for year in others { #expect(try !matches(match, year), "\(match) \(String(describing: year))") }
        }
    }

    @Test("A rule on several types answers each of them, and its templates take the fields of the message")
    func severalTypes() throws {
        let flow = try Flow("types", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(on: ["event.Go", "command.Go"], do: [.push(.screen("a", ["id": "${data.id}"]))])
        }
        var session = Session(flow)
        session.send("event.Go", ["id": 1])
        session.send("command.Go", ["id": 2])
        session.send("event.Gone", ["id": 3])
        #expect(session.state.path.map(\.arguments) == [["id": 1], ["id": 2]])
    }

    @Test("Several conditions on one part of the state must all hold under 'when', and none under 'unless'")
    func severalConditions() throws {
        let flow = try Flow("both", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Push", do: [.push("b")])
            Flow.Transition(on: "event.PushC", do: [.push("c")])
            Flow.Transition(
                on: "event.Both", when: [.path("b"), .path("c"), .root("a")], do: [.send(type: "command.All")])
            Flow.Transition(on: "event.Both", unless: [.path("c"), .path("b")], do: [.send(type: "command.None")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        #expect(
            flow.json.value(at: "transitions")?.arrayValue?[2].value(at: "when") == [
                ["path": ["b"], "root": ["a"]], ["path": ["c"]],
            ])
        var session = Session(flow)
        #expect(session.send("event.Both").sent == ["command.None"])
        session.send("event.Push")
        #expect(session.send("event.Both").sent == [])
        session.send("event.PushC")
        #expect(session.send("event.Both").sent == ["command.All"])
    }

    @Test("Conditions can be written in short forms in YAML")
    func written() throws {
        let yaml = """
            name: songs
            version: 1
            platform: ios
            start: a
            screens: { a: }
            transitions:
              - on: event.Go
                where:
                  status: [ready, failed]
                  error: { exists: false }
                  song.kind: { not: live }
                  song.year: { atLeast: 1950, atMost: 1999.5, not: [1968, 1969] }
                do: [{ push: a }]
            """
        let flow = try Flow("songs", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(
                on: "event.Go",
                where: [
                    "status": ["ready", "failed"], "error": .exists(false), "song.kind": .not("live"),
                    "song.year": Flow.Match(noneOf: [1968, 1969], atLeast: 1950, atMost: 1999.5),
                ],
                do: [.push("a")])
        }
        #expect(try Flow(yaml: yaml, file: "songs.yaml") == flow)
    }

    /// A session of a flow whose rule pushes an item only if the item is not on the path already.
    private func items() throws -> Session {
        let wanted = Flow.Destination.screen("item", ["id": "${data.id}"])
        let flow = try Flow("items", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list")
            Flow.Screen("item")
            Flow.Transition(on: "event.Closed", when: [.top(.init(wanted))], do: [.pop])
            Flow.Transition(on: "event.Opened", unless: [.path(.init(wanted), "list")], do: [.push(wanted)])
            Flow.Transition(on: "event.First", when: [.shown(.screen("item", ["id": 1]))], do: [.popToRoot])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        return Session(flow)
    }

    @Test("A condition on arguments distinguishes two instances of a screen")
    func arguments() throws {
        var session = try items()
        for id: JSONValue in [1, 1, 2, 1] { session.send("event.Opened", ["id": id]) }
        #expect(session.state.path.map(\.arguments) == [["id": 1], ["id": 2]])
        session.send("event.Closed", ["id": 1])
        #expect(session.path.count == 2)
        session.send("event.First")
        #expect(session.path.count == 2)
        session.send("event.Closed", ["id": 2])
        #expect(session.path.count == 1)
        session.send("event.First")
        #expect(session.path.isEmpty)
    }

    @Test("A numeric argument equals its text, as in a URL, and a field does not")
    func numbers() throws {
        let cases: [(JSONValue, JSONValue, Bool)] = [
            (5, "5", true), ("5", 5.0, true), (5, 5.0, true), (1.5, "1.5", true), (-3, "-3", true),
            (true, "true", true),
            (5, "05", false), (5, "5.0", false), (5, "6", false), ("5", "5.0", false), (.null, "null", false),
            ([5], ["5"], false), (9_007_199_254_740_993, "9007199254740993", true),
        ]
        for (open, asked, isSame) in cases {
            var session = try items()
            session.send("event.Opened", ["id": open])
            session.send("event.Opened", ["id": asked])
            #expect((session.path.count == 1) == isSame, "\(open) \(asked)")
        }
    }

    @Test("A condition on an argument that cannot be filled in does not match")
    func unresolved() throws {
        var session = try items()
        session.send("event.Opened", ["id": 1])
        #expect(session.send("event.Closed").isEmpty)
        #expect(session.path.count == 1)
    }

    @Test("A rule can test which tab is selected")
    func tab() throws {
        let flow = try Flow("tabs", version: 1, platform: "ios", start: "a") {
            for name in ["a", "home", "search"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Go", when: [.tab("home", "other")], do: [.selectTab("search")])
            Flow.Transition(on: "event.Go", when: [.tab("search")], do: [.setRoot("a")])
            Flow.Transition(
                on: "event.Go", unless: [.tab("home")],
                do: [.setRoot("a", container: .tabs(["home", "search", .tab("other", "a")]))])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        var session = Session(flow)
        var selected: [String?] = []
        for _ in 0..<4 {
            session.send("event.Go")
            selected.append(session.state.root.container?.selectedTab)
        }
        #expect(selected == ["home", "search", nil, "home"])
    }
}
