import Navigation
import Testing

@Suite("Child flows that go wrong")
struct ChildFlowMistakeTests {
    private func session(
        _ child: [Flow.Transition], _ outer: Flow.Transition..., begin: Flow.Action = .pushFlow("child")
    ) throws -> Session {
        var session = Session(
            try Flow("outer", version: 1, platform: "ios", start: "a") {
                for name in ["a", "b", "c"] { Flow.Screen(name) }
                Flow.Child("child", start: "b", transitions: child)
                Flow.Transition(on: "event.Begin", do: [begin])
                for transition in outer { transition }
            })
        session.send("event.Begin")
        return session
    }

    @Test("A result that its receiver cannot use fails the step, and the run goes on")
    func receiverFails() throws {
        var session = try session(
            [Flow.Transition(on: "event.End", do: [.finish()])],
            Flow.Transition(on: "flow.finished", do: [.push(.screen("c", ["x": "${data.result.x}"]))]))
        let before = session.machine
        #expect(session.send("event.End").failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.machine == before)
    }

    @Test("A swipe back has its effect whatever becomes of the rules that are told of it")
    func swipeStands() throws {
        var session = try session([], Flow.Transition(on: "flow.abandoned", do: [.push("c"), .dismiss("b")]))
        let effects = session.report("BackCompleted", "b-2")
        #expect(effects.failureCodes == ["navigation.notPresented"])
        #expect(effects.dismissals == ["b-2"])
        #expect(session.path.isEmpty)
        #expect(session.state.runs.isEmpty)
    }

    @Test("Flows that begin one another without end are stopped")
    func endless() throws {
        var session = try session(
            [Flow.Transition(on: "event.End", do: [.abandon])],
            Flow.Transition(on: "flow.abandoned", do: [.pushFlow("child"), .popToRoot]))
        let before = session.machine
        #expect(session.send("event.End").failureCodes == ["navigation.endlessFlows"])
        #expect(session.machine == before)
    }

    @Test("A run that its own rule takes away does not own what the rule opens next")
    func setRootWithin() throws {
        var session = try session([Flow.Transition(on: "event.End", do: [.setRoot("a"), .push("c")])])
        session.send("event.End")
        #expect(session.state.standing.map(\.run) == [nil, nil])
        #expect(session.state.runs.isEmpty)
    }

    @Test("In a column, a run answers the commands of its own screens, and takes its own columns away")
    func column() throws {
        let flow = try Flow("columns", version: 1, platform: "mac", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "b",
                transitions: [
                    Flow.Transition(on: "command.More", do: [.show("c", column: "side")]),
                    Flow.Transition(on: "command.End", do: [.finish()]),
                ])
            Flow.Transition(
                on: "event.Begin",
                do: [
                    .setRoot("a", container: .split), .show("c", column: "detail"),
                    .pushFlow("child", column: "detail"),
                ])
            Flow.Transition(on: "command.End", do: [.setRoot("b")])
        }
        var session = Session(flow)
        session.send("event.Begin")
        session.send("command.More", platform: "mac", instance: "b-4")
        #expect(session.state.standing.map(\.run) == [nil, nil, "child-5", "child-5"])
        var sidebar = session
        sidebar.send("command.End", platform: "mac", instance: "a-2")
        #expect(sidebar.state.standing.map(\.screen) == ["b"])
        session.send("command.End", platform: "mac", instance: "b-4")
        #expect(session.state.standing.map(\.screen) == ["a", "c"])
        #expect(session.state.runs.isEmpty)
    }

    @Test(
        "Child flows that make no sense are found",
        arguments: [
            (
                "flows: { child: { start: a, transitions: [{ on: event.B, do: [finish, pop] }] } }",
                "63: 'finish' ends the flow; make it the last action"
            ),
            ("flows: { child: { start: other, transitions: [] } }", "19: unknown screen 'other'; known are a"),
            ("flows: { child: { transitions: [] } }", "17: flow 'child' lacks 'start'; add it"),
            ("flows: { child: }", "17: flow 'child' must be a mapping with start, transitions"),
            ("flows: [child]", "8: flows must be a mapping of child flows' names"),
            (
                "transitions: [{ on: event.B, do: [abandon] }]",
                "35: 'abandon' ends a child flow; use it in a rule of one"
            ),
            (
                "transitions: [{ on: event.B, do: [push: { flow: chidl }] }]",
                "43: unknown flow 'chidl'; did you mean 'child'?"
            ),
            (
                "transitions: [{ on: event.B, do: [push: { flow: child, screen: a }] }]",
                "56: unknown key 'screen' in 'push'; known are arguments, column, flow"
            ),
            (
                "transitions: [{ on: event.B, do: [{ present: { flow: child, style: dialog, buttons: [] } }] }]",
                "61: a flow needs a path, and dialog has none"
            ),
            (
                "transitions: [{ on: flow.finished, where: { flow: other }, do: [pop] }]",
                "45: unknown flow 'other'; known are child"
            ),
            ("transitions: [{ on: flow.begun, do: [pop] }]", "17: 'flow.begun' is not the type of a message"),
            ("transitions: [{ on: event.B, do: [abandon: now] }]", "44: action 'abandon' takes nothing"),
        ])
    func findings(part: String, expected: String) throws {
        var yaml = "name: x\nversion: 1\nplatform: ios\nstart: a\nscreens: { a: }\n" + part
        if !part.hasPrefix("flows") { yaml += "\nflows: { child: { start: a, transitions: [] } }" }
        if !part.hasPrefix("transitions") { yaml += "\ntransitions: []" }
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml, file: "x.yaml") }
        let found = error?.findings.map(\.description) ?? []
        #expect(found.contains { $0.hasPrefix("x.yaml:6:" + expected) }, "\(found)")
    }
}
