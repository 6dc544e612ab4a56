import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Conditions on the arguments of screens")
struct ArgumentConditionTests {
    /// True if a rule that requires this of the argument `x` of the screen in front applies.
    private func holds(_ match: Flow.Match, _ argument: JSONValue?, data: JSONValue = [:]) throws -> Bool {
        let flow = try Flow("tea", version: 1, platform: "any", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Begin", do: [.push(.screen("b", argument.map { ["x": $0] } ?? [:]))])
            Flow.Transition(on: "event.Go", when: [.top(.screen("b", ["x": match]))], do: [.push("c")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        session.send("event.Begin")
        session.send("event.Go", data)
        return session.path.contains("c")
    }

    @Test("An argument is compared as in 'where', and a number or a boolean equals its JSON text")
    func operators() throws {
        let cases: [(Flow.Match, [JSONValue?], [JSONValue?])] = [
            (5, [5, "5", 5.0], ["05", 6, .null, nil]), (["red", 5], ["red", "5"], ["blue", nil]),
            (.not("red", 5), ["blue", .null, nil], ["red", 5, "5"]), (.exists(true), [0, ""], [.null, nil]),
            (.exists(false), [.null, nil], [0]), (.atLeast(3), [3, "3", 4.5, "4.5"], [2, "2", "03", "x", nil, true]),
            (Flow.Match(noneOf: [4], atLeast: 3, atMost: 5), [3, "5"], [2, 4, "4", 6]),
            (.value(["a": 1]), [["a": 1]], [["a": 2], nil]), (.value([1, 2]), [[1, 2]], [1, [1]]),
            (.value(["not": 1]), [["not": 1]], [1, 2]), (.value([:]), [[:]], [1]),
        ]
        for (match, fitting, others) in cases {
            for argument in fitting { #expect(try holds(match, argument), "\(match) \(String(describing: argument))") }
            for argument in others { #expect(try !holds(match, argument), "\(match) \(String(describing: argument))") }
        }
    }

    @Test("Values may be templates; a value of 'not' without a value matches no instance")
    func templates() throws {
        #expect(try holds("${data.x}", 5, data: ["x": "5"]))
        #expect(try holds(["${data.y}", "${data.x}"], 5, data: ["x": 5]))
        #expect(try !holds(.not("${data.x}"), 5, data: ["x": 5]))
        #expect(try holds(.not("${data.x}"), 5, data: ["x": 6]))
        #expect(try !holds(.not("${data.x}"), 5))
        #expect(try holds(.not("${data.x:-6}"), 5))
        #expect(try !holds("${data.x}", nil))
    }

    @Test("A mapping whose keys are all operators has conditions, a list has values, and any other mapping is a value")
    func written() throws {
        let yaml = """
            name: tea
            version: 1
            platform: ios
            start: a

            screens:
              a:

            transitions:
              - on: event.Go
                when:
                  top:
                    screen: a
                    arguments:
                      colour: [red, green]
                      minutes:
                        atLeast: 3
                        not: 5
                      note:
                        exists: false
                      size: 5
                      unit:
                        name: cup
                        not: 5
                do: [pop]

            """
        let flow = try Flow(yaml: yaml, file: "tea.yaml")
        let built = try Flow("tea", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(
                on: "event.Go",
                when: [
                    .top(
                        .screen(
                            "a",
                            [
                                "colour": ["red", "green"], "minutes": Flow.Match(noneOf: [5], atLeast: 3),
                                "note": .exists(false), "size": 5, "unit": .value(["name": "cup", "not": 5]),
                            ]))
                ],
                do: [.pop])
        }
        #expect(flow == built)
        #expect(flow.hash == built.hash)
        #expect(try Flow(yaml: flow.yaml, file: "tea.yaml") == flow)
        #expect(
            flow.json.value(at: "transitions.0.when.top.0.arguments.unit") == ["name": "cup", "not": 5],
            "values of former flows keep their JSON")
    }

    @Test(
        "A condition that cannot be used is an error with its place",
        arguments: [
            ("{ minutes: { atLeast: many } }", "atLeast must be a number"),
            ("{ minutes: [] }", "the list of values is empty"),
            ("{ minutes: { atLeast: 3, atMost: 2 } }", "no number is both at least 3 and at most 2"),
            ("{ minutes: { not: '${data.x?}' } }", "'${data.x?}' leaves out its key"),
            ("{ minutes: '${x}' }", "unknown name 'x' in a template"), ("[minutes]", "expected a mapping of names"),
        ])
    func mistakes(arguments: String, expected: String) {
        let yaml = """
            name: x
            version: 1
            platform: ios
            start: a
            screens: { a: }
            transitions:
              - on: event.A
                when: { top: { screen: a, arguments: \(arguments) } }
                do: [pop]
            """
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }
        #expect(found.contains { $0.message.contains(expected) && $0.line == 8 }, "\(found)")
    }
}
