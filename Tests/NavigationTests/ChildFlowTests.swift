import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Child flows")
struct ChildFlowTests {
    private func session(_ events: String...) throws -> Session {
        var session = Session(try Flow(yaml: SignUpFlow.yaml, file: "shop.yaml"))
        for event in events { #expect(session.send("event.\(event)").failureCodes.isEmpty) }
        return session
    }

    @Test("A child flow in YAML equals the same one built in Swift")
    func written() throws {
        let flow = try Flow(yaml: SignUpFlow.yaml, file: "shop.yaml")
        #expect(try SignUpFlow.built() == flow)
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(flow.messageTypes.contains("event.AddressNeeded"))
        #expect(!flow.messageTypes.contains { $0.hasPrefix("flow.") })
    }

    @Test("The rules of the run in front are tried first, and screens that they open belong to it")
    func rules() throws {
        let session = try session("Next", "SignUpPushed", "Next")
        #expect(session.path == ["basket", "credentials", "code"])
        #expect(session.state.path.map(\.run) == [nil, "signUp-4", "signUp-4"])
        #expect(session.state.runs == [FlowRun(id: "signUp-4", flow: "signUp", first: "credentials-3")])
    }

    @Test("A message that no rule of the run answers goes to the flow, whose screens do not belong to the run")
    func outerRules() throws {
        let session = try session("SignUpPushed", "Help")
        #expect(session.presented == ["map"])
        #expect(session.state.top.run == nil)
    }

    @Test("A finished run closes all its screens and passes its result to its parent, in one step")
    func finished() throws {
        var session = try session("Next", "SignUpPushed", "Next")
        let effects = session.send("event.Next", ["name": "anna"])
        #expect(session.path == ["basket", "paid"])
        #expect(session.state.top.arguments == ["name": "anna"])
        #expect(session.state.runs.isEmpty)
        #expect(effects.dismissals == ["code-5", "credentials-3"])
        #expect(session.machine.revision == 4)
        #expect(session.machine.cause == "m4")
    }

    @Test("A nested run that ends in two levels, and the parent's next screen, are one step")
    func finishedTwoDeep() throws {
        var session = try session("Next", "SignUpPushed", "Next")
        session.send("event.AddressNeeded", ["country": "uk"])
        #expect(session.state.top.arguments == ["country": "uk"])
        #expect(session.state.runs.map(\.parent) == [nil, "signUp-4"])
        let revision = session.machine.revision
        #expect(session.send("event.Next").dismissals == ["address-6", "code-5", "credentials-3"])
        #expect(session.path == ["basket", "paid"])
        #expect(session.state.top.arguments == ["city": "York"])
        #expect(session.machine.revision == revision + 1)
    }

    @Test("A swipe back out of a run's first screen abandons it, and one before does not")
    func swipedOut() throws {
        var session = try session("Next", "SignUpPushed", "Next")
        session.report("BackCompleted", "code-5")
        #expect(session.state.runs.count == 1)
        let effects = session.report("BackCompleted", "credentials-3")
        // The flow's rule on the abandoned run dismisses the basket too.
        #expect(effects.dismissals == ["credentials-3", "basket-2"])
        #expect(session.path.isEmpty)
        #expect(session.state.runs.isEmpty)
        #expect(session.report("BackCompleted", "credentials-3").isEmpty)
    }

    @Test("A dismissed presentation abandons the run in it and the runs that this one began")
    func dismissed() throws {
        var session = try session("Next", "SignUpPresented", "Next")
        session.send("event.AddressNeeded", ["country": "uk"])
        let effects = session.report("PresentationDismissed", "credentials-3")
        #expect(effects.dismissals == ["address-6", "code-5", "credentials-3", "basket-2"])
        #expect(session.state.runs.isEmpty)
    }

    @Test(
        "A run that is abandoned by its own rule or by another root closes all its screens",
        arguments: ["Cancelled", "Reset"])
    func abandoned(event: String) throws {
        var session = try session("SignUpPresented", "Next")
        session.send("event.\(event)")
        #expect(session.state.open.map(\.screen) == ["list"])
        #expect(session.state.runs.isEmpty)
    }

    @Test("The end of an inner run of a flow leaves the outer run of the same flow")
    func twice() throws {
        var session = try session("SignUpPushed", "Help", "SignUpPushed", "Next")
        #expect(session.state.runs.map(\.id) == ["signUp-3", "signUp-6"])
        session.send("event.Cancelled")
        #expect(session.state.runs.map(\.id) == ["signUp-3"])
        #expect(session.presented == ["map"])
        #expect(session.state.presentations.first?.path == [])
    }

    @Test("The path of a pushed run begins above its first screen")
    func bounds() throws {
        var session = try session("Next", "SignUpPushed", "Next")
        session.send("event.Root")
        #expect(session.path == ["basket", "credentials"])
        session.send("event.Over")
        #expect(session.path == ["basket", "credentials", "code", "map"])
        session.send("event.PopTwo")
        #expect(session.path == ["basket", "credentials"])
        #expect(session.send("event.PopTwo").failureCodes == ["navigation.nothingToPop"])
        #expect(session.state.runs.count == 1)
    }

    @Test("Screens that others opened on a run's screens close with it")
    func coveredByOthers() throws {
        var session = try session("SignUpPushed", "Help")
        let effects = session.report("BackCompleted", "credentials-2")
        #expect(effects.dismissals == ["map-4", "credentials-2"])
        #expect(session.state.open.map(\.screen) == ["list"])
    }

    @Test("A view's request within a run acts on the run, and may leave it")
    func requests() throws {
        func request(_ action: JSONValue, _ session: inout Session) -> [Machine.Effect] {
            session.send("command.NavigationRequested", ["action": action], platform: "ios")
        }
        var session = try session("Next", "SignUpPushed")
        _ = request(["push": "map"], &session)
        #expect(session.state.top.run == "signUp-4")
        var left = session
        #expect(request(["pop": 2], &left).dismissals == ["map-5", "credentials-3", "basket-2"])
        #expect(left.state.runs.isEmpty)
        _ = request(["finish": ["name": "${x}"]], &session)
        #expect(session.state.top.arguments == ["name": "${x}"])
        #expect(
            request("finish", &session).discards
                == ["command.NavigationRequested: there is no run of a child flow to end"])
    }

    @Test("A restored run continues, and closes as a whole without its flow or its first screen")
    func restored() throws {
        var session = try session("Next", "SignUpPushed", "Next")
        session.send("event.AddressNeeded", ["country": "uk"])
        let snapshot = try JSONDecoder().decode(
            NavigationSnapshot.self, from: JSONEncoder().encode(session.machine.snapshot))
        #expect(snapshot == session.machine.snapshot)
        #expect(Restoration(snapshot, flow: session.machine.flow).machine == session.machine)
        func salvaged(screens: [String], flows: [String]) throws -> NavigationState {
            let flow = try Flow("shop", version: 2, platform: "ios", start: "list") {
                for name in screens { Flow.Screen(name) }
                for name in flows { Flow.Child(name, start: "list", transitions: []) }
            }
            return Restoration(snapshot, flow: flow).machine.state
        }
        let all = ["list", "basket", "credentials", "code", "address"]
        let withoutFlow = try salvaged(screens: all, flows: ["addressing"])
        #expect(withoutFlow.path.map(\.screen) == ["basket"])
        #expect(withoutFlow.runs.isEmpty)
        let withoutNested = try salvaged(screens: all, flows: ["signUp"])
        #expect(withoutNested.path.map(\.screen) == ["basket", "credentials", "code"])
        #expect(withoutNested.runs.map(\.flow) == ["signUp"])
        let withoutFirst = try salvaged(
            screens: all.filter { $0 != "credentials" }, flows: ["signUp", "addressing"])
        #expect(withoutFirst.path.map(\.screen) == ["basket"])
        #expect(withoutFirst.runs.isEmpty)
    }
}

@Suite("Child flows with mistakes")
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

    @Test("A result that its receiver cannot use fails the step, and the run continues")
    func receiverFails() throws {
        var session = try session(
            [Flow.Transition(on: "event.End", do: [.finish()])],
            Flow.Transition(on: "flow.finished", do: [.push(.screen("c", ["x": "${data.result.x}"]))]))
        let before = session.machine
        #expect(session.send("event.End").failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.machine == before)
    }

    @Test("A swipe back closes its screen even if a rule on the end of the run fails")
    func swipeStands() throws {
        var session = try session([], Flow.Transition(on: "flow.abandoned", do: [.push("c"), .dismiss("b")]))
        let effects = session.report("BackCompleted", "b-2")
        #expect(effects.failureCodes == ["navigation.notPresented"])
        #expect(effects.dismissals == ["b-2"])
        #expect(session.path.isEmpty)
        #expect(session.state.runs.isEmpty)
    }

    @Test("Flows that begin each other without end are stopped")
    func endless() throws {
        var session = try session(
            [Flow.Transition(on: "event.End", do: [.abandon])],
            Flow.Transition(on: "flow.abandoned", do: [.pushFlow("child"), .popToRoot]))
        let before = session.machine
        #expect(session.send("event.End").failureCodes == ["navigation.endlessFlows"])
        #expect(session.machine == before)
    }

    @Test("A screen that a rule opens after it has closed its own run does not belong to the run")
    func setRootWithin() throws {
        var session = try session([Flow.Transition(on: "event.End", do: [.setRoot("a"), .push("c")])])
        session.send("event.End")
        #expect(session.state.open.map(\.run) == [nil, nil])
        #expect(session.state.runs.isEmpty)
    }

    @Test("A run in a column answers the commands of its own screens, and closes its own columns")
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
        #expect(session.state.open.map(\.run) == [nil, nil, "child-5", "child-5"])
        var sidebar = session
        sidebar.send("command.End", platform: "mac", instance: "a-2")
        #expect(sidebar.state.open.map(\.screen) == ["b"])
        session.send("command.End", platform: "mac", instance: "b-4")
        #expect(session.state.open.map(\.screen) == ["a", "c"])
        #expect(session.state.runs.isEmpty)
    }

    @Test(
        "Mistakes in child flows are found",
        arguments: [
            (
                "flows: { child: { start: a, transitions: [{ on: event.B, do: [finish, pop] }] } }",
                "63: 'finish' ends the child flow; make it the last action"
            ),
            ("flows: { child: { start: other, transitions: [] } }", "19: unknown screen 'other'; known: a"),
            ("flows: { child: { transitions: [] } }", "17: flow 'child' lacks 'start'; add it"),
            ("flows: { child: }", "17: flow 'child' must be a mapping with the keys start, transitions"),
            ("flows: [child]", "8: 'flows' must be a mapping from child flows' names"),
            (
                "transitions: [{ on: event.B, do: [abandon] }]",
                "35: 'abandon' ends a child flow; use it only in rules of a child flow"
            ),
            (
                "transitions: [{ on: event.B, do: [push: { flow: chidl }] }]",
                "43: unknown child flow 'chidl'; did you mean 'child'?"
            ),
            (
                "transitions: [{ on: event.B, do: [push: { flow: child, screen: a }] }]",
                "56: unknown key 'screen' in 'push'; known: arguments, column, flow"
            ),
            (
                "transitions: [{ on: event.B, do: [{ present: { flow: child, style: dialog, buttons: [] } }] }]",
                "61: a child flow needs a path, and style 'dialog' has none"
            ),
            (
                "transitions: [{ on: flow.finished, where: { flow: other }, do: [pop] }]",
                "45: unknown child flow 'other'; known: child"
            ),
            ("transitions: [{ on: flow.begun, do: [pop] }]", "17: 'flow.begun' is not the type of a message"),
            ("transitions: [{ on: event.B, do: [abandon: now] }]", "44: action 'abandon' takes no value"),
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
