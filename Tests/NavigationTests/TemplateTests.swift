import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Templates with defaults, optional values and dollar signs")
struct TemplateTests {
    /// A flow that pushes `b` with these arguments on `event.Go`, and sends a declared command with the same fields.
    private func session(_ arguments: [String: JSONValue]) throws -> Session {
        let flow = try Flow(
            "letters", version: 1, platform: "any", start: "a",
            commands: ["command.Declared": ["x": .init(.any, isRequired: false), "y": .init(.any)]]
        ) {
            Flow.Screen("a")
            Flow.Screen("b")
            Flow.Screen("c", arguments: ["x": .init(.any, isRequired: false), "y": .init(.any, isRequired: false)])
            Flow.Transition(on: "event.Go", do: [.push(.screen("b", arguments))])
            Flow.Transition(on: "event.Send", do: [.send(type: "command.Declared", data: .object(arguments))])
            Flow.Transition(on: "event.Show", do: [.push(.screen("c", arguments))])
            Flow.Transition(on: "command.Declared", do: [.pop])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        return Session(flow)
    }

    @Test(
        "A default applies if the value is absent, null or empty, and is a number or a boolean if its text is one",
        arguments: [
            ("${data.colour:-red}", ["colour": "blue"], "blue"), ("${data.colour:-red}", [:], "red"),
            ("${data.colour:-red}", ["colour": .null], "red"), ("${data.colour:-red}", ["colour": ""], "red"),
            ("${data.colour:-red}", ["colour": false], false), ("${data.count:-5}", [:], 5),
            ("${data.count:-5}", ["count": 0], 0), ("${data.count:-1.5}", [:], 1.5), ("${data.on:-true}", [:], true),
            ("${data.count:-05}", [:], "05"), ("${data.x:-[1]}", [:], "[1]"), ("${data.x:-}", [:], ""),
            ("tea ${data.count:-5} min", [:], "tea 5 min"), ("${data.a:-x}${data.b:-y}", ["a": ""], "xy"),
            ("${data.x:-a:-b}", [:], "a:-b"), ("${sender.x:-none}", [:], "none"), ("${screens.c.x:-5}", [:], 5),
        ] as [(String, JSONValue, JSONValue)])
    func defaults(template: String, data: JSONValue, value: JSONValue) throws {
        var session = try session(["x": .string(template)])
        #expect(session.send("event.Go", data).failureCodes == [])
        #expect(session.state.top.arguments == ["x": value])
    }

    @Test(
        "Two dollar signs before a brace write one; other dollar signs stay",
        arguments: [
            ("$${data.x}", "${data.x}"), ("$$${data.x}", "$1"), ("$$$${data.x}", "$${data.x}"),
            ("$$$$${data.x}", "$$1"), ("a $${ b", "a ${ b"), ("$$", "$$"), ("$5 and $$5", "$5 and $$5"),
            ("$${x} ${data.x}", "${x} 1"), ("${data.x}$${data.x}", "1${data.x}"), ("{$}", "{$}"),
        ])
    func escapes(template: String, value: JSONValue) throws {
        var session = try session(["x": .string(template)])
        #expect(session.send("event.Go", ["x": 1]).failureCodes == [])
        #expect(session.state.top.arguments == ["x": value])
    }

    @Test(
        "'?' leaves out the key if the value is absent or null, and keeps it otherwise",
        arguments: [([:], nil), (["x": .null], nil), (["x": ""], ""), (["x": 5], 5)] as [(JSONValue, JSONValue?)])
    func optional(data: JSONValue, value: JSONValue?) throws {
        var session = try session(["x": "${data.x?}", "y": ["x": "${data.x?}", "list": [["x": "${data.x?}"]]]])
        #expect(session.send("event.Go", data).failureCodes == [])
        let arguments = session.state.top.arguments
        #expect(arguments["x"] == value)
        #expect(arguments["y"] == (value.map { ["x": $0, "list": [["x": $0]]] } ?? ["list": [[:]]]))
    }

    @Test("A template for an optional argument or an optional field of a declared command is optional by itself")
    func declared() throws {
        var session = try session(["x": "${data.x}", "y": "${data.y}"])
        #expect(session.send("event.Send", ["y": 1]) == [.send(type: "command.Declared", data: ["y": 1])])
        #expect(session.send("event.Send", ["x": 1]).failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.send("event.Show", ["x": 1]).failureCodes == [])
        #expect(session.state.top.arguments == ["x": 1])
        #expect(session.send("event.Go", ["x": 1]).failureCodes == ["navigation.unresolvedTemplate"])
        var text = try self.session(["x": "a ${data.x}"])
        #expect(text.send("event.Show").failureCodes == ["navigation.unresolvedTemplate"], "only a template alone")
    }

    @Test("Values and defaults in a URL are encoded")
    func url() throws {
        let flow = try Flow("a", version: 1, platform: "any", start: "a") {
            Flow.Screen("a")
            Flow.Transition(on: "event.Go", do: [.openURL("https://a.example/${data.q:-a b}?n=$${x}")])
        }
        var session = Session(flow)
        #expect(session.send("event.Go") == [.openURL("https://a.example/a%20b?n=${x}")])
        #expect(session.send("event.Go", ["q": "ü"]) == [.openURL("https://a.example/%C3%BC?n=${x}")])
    }

    @Test(
        "A template that cannot be used is an error",
        arguments: [
            ("push: { screen: a, arguments: { x: '${data.x?:-1}' } }", "'${data.x?:-…}' has both '?' and a default"),
            (
                "push: { screen: a, arguments: { x: 'a ${data.x?}' } }",
                "must be the whole value of a key; write a default"
            ),
            ("push: { screen: a, arguments: { x: ['${data.x?}'] } }", "'${data.x?}' leaves out its key"),
            ("openURL: 'x:${data.x?}'", "'${data.x?}' leaves out its key"), ("openURL: '$${x}${'", "is not closed"),
            ("push: { screen: a, arguments: { x: '${x:-1}' } }", "unknown name 'x'"),
            (
                "push: { screen: b, arguments: { x: '${data.x?}' } }",
                "'x' of screen 'b' is required, and '${data.x?}' may"
            ),
        ])
    func mistakes(action: String, expected: String) {
        let yaml = """
            name: x
            version: 1
            platform: ios
            start: a
            screens: { a: , b: { arguments: { x: string } } }
            transitions: [{ on: event.A, do: [{ \(action) }] }]
            """
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }
        #expect(found.count == 1 && found.first?.message.contains(expected) == true, "\(found)")
    }
}
