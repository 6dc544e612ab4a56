import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Rules on acts of the user")
struct UserActTests {
    private func session(_ rules: Flow.Transition..., child: [Flow.Transition] = [], begin: Flow.Action...) throws
        -> Session
    {
        let flow = try Flow("acts", version: 1, platform: "any", start: "a") {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name) }
            Flow.Child("child", start: "b", transitions: child)
            Flow.Transition(on: "event.Begin", do: begin)
            for rule in rules { rule }
            Flow.Transition(on: "event.Never", do: [Self.tabs])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        #expect(flow.messageTypes.allSatisfy { !$0.hasPrefix("user.") })
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes.isEmpty)
        return session
    }

    private static let tabs = Flow.Action.setRoot("a", container: .tabs(["b", .tab("search", "c")]))

    @Test("A completed swipe back is an act of the lowest screen that was left, with its arguments")
    func wentBack() throws {
        var session = try session(
            Flow.Transition(
                on: "user.wentBack", where: ["screen": "b"], when: [.top("a")],
                do: [
                    .send(type: "command.Left", data: ["id": "${sender.id}", "instance": "${data.instance}"]),
                    .push(.screen("d", ["id": "${arguments.id}"])),
                ]),
            begin: .push(.screen("b", ["id": 7])), .push("c"))
        #expect(session.report("BackStarted", "b-2").isEmpty)
        var other = session
        #expect(other.report("BackCompleted", "c-3").sent.isEmpty)
        let effects = session.report("BackCompleted", "b-2")
        #expect(effects.dismissals == ["c-3", "b-2"])
        #expect(effects.contains(.send(type: "command.Left", data: ["id": 7, "instance": "b-2"])))
        #expect(session.state.path.map(\.arguments) == [["id": 7]])
        #expect(session.machine.rule == "transitions[1]")
        let revision = session.machine.revision
        #expect(session.report("BackCompleted", "b-2").isEmpty)
        #expect(session.report("BackCompleted", "x-9").sent.isEmpty)
        #expect(session.machine.revision == revision)
    }

    @Test("A dismissal by the user is an act, a dismissal by a rule and a refused one are not")
    func dismissed() throws {
        let rule = Flow.Transition(
            on: "user.dismissed", when: [.presented(), .sender("b")], do: [.send(type: "command.Closed")])
        let close = Flow.Transition(on: "event.Close", do: [.dismiss(nil)])
        var session = try session(rule, close, begin: .present("b", as: .sheet))
        var closed = session
        #expect(closed.send("event.Close").sent.isEmpty)
        #expect(closed.report("PresentationDismissed", "b-2").sent.isEmpty)
        #expect(session.report("PresentationDismissed", "b-2").sent == ["command.Closed"])
        let stays = PresentationOptions(interactiveDismissal: false)
        var refused = try self.session(rule, begin: .present("b", as: .sheet, options: stays))
        #expect(refused.report("PresentationDismissed", "b-2").sent.isEmpty)
    }

    @Test("An answered alert is not an act")
    func answered() throws {
        let question = PresentationOptions(title: "Sure?", buttons: [AlertButton(id: "yes", title: "Yes")])
        var session = try session(
            Flow.Transition(on: "user.dismissed", do: [.send(type: "command.Closed")]),
            begin: .present("b", as: .alert, options: question))
        #expect(session.report("AlertAnswered", "b-2", ["button": "yes"]).sent.isEmpty)
    }

    @Test("Selecting a tab and tapping the selected one are different acts; a repeated report is neither")
    func tabs() throws {
        let selected = Flow.Transition(
            on: "user.selectedTab", where: ["tab": "search", "former": "b"], do: [.push("d")])
        let tapped = Flow.Transition(on: "user.tappedTab", where: ["tab": "search"], do: [.popToRoot])
        var session = try session(selected, tapped, begin: Self.tabs)
        func report(_ id: String, _ tab: String) -> Machine.Input {
            let data: JSONValue = ["instance": "a-2", "tab": .string(tab)]
            return Machine.Input(id: id, type: "command.TabSelected", data: data)
        }
        var machine = session.machine
        _ = machine.handle(report("r1", "search"))
        #expect(machine.state.frontPath.map(\.screen) == ["d"])
        let revision = machine.revision
        #expect(machine.handle(report("r1", "search")).isEmpty)
        #expect(machine.revision == revision)
        #expect(machine.handle(report("r2", "search")).dismissals == ["d-5"])
        #expect(machine.state.root.container?.selectedTab == "search")
        session.report("TabSelected", "a-2", ["tab": "other"])
        #expect(session.state.root.container?.selectedTab == "b")
    }

    @Test("If the rule fails, the act still counts and the failure is reported")
    func failure() throws {
        var session = try session(
            Flow.Transition(on: "user.wentBack", do: [.push("c"), .dismiss(nil)]), begin: .push("b"))
        let effects = session.report("BackCompleted", "b-2")
        #expect(effects.dismissals == ["b-2"])
        #expect(effects.failureCodes == ["navigation.notPresented"])
        #expect(session.state.open.map(\.screen) == ["a"])
    }

    @Test("The rules of an open child flow are tried first; a run that the act has ended has none")
    func childFlow() throws {
        let child = Flow.Transition(on: "user.wentBack", do: [.send(type: "command.Child")])
        let own = Flow.Transition(on: "user.wentBack", do: [.send(type: "command.Own")])
        let abandoned = Flow.Transition(on: "flow.abandoned", do: [.send(type: "command.Abandoned")])
        var session = try session(own, abandoned, child: [child], begin: .pushFlow("child"))
        let left = session.report("BackCompleted", "b-2")
        #expect(left.sent == ["command.Own", "command.Abandoned"])
        var inside = try self.session(
            own, abandoned, child: [child, Flow.Transition(on: "event.On", do: [.push("c")])], begin: .pushFlow("child")
        )
        inside.send("event.On")
        #expect(inside.report("BackCompleted", inside.state.path[1].id).sent == ["command.Child"])
    }

    @Test(
        "A rule on an act is checked",
        arguments: [
            ("on: user.wentBack, where: { screen: x }", "unknown screen 'x'"),
            ("on: user.wentBack, where: { tab: a }", "'user.wentBack' has no field 'tab'; known: instance, screen"),
            ("on: user.selectedTab, where: { tab: x }", "unknown tab 'x'"),
            (
                "on: user.dismissed, guard: { accept: event.A, deadline: 5s }",
                "a rule on 'user.dismissed' cannot have a"
            ),
            ("on: user.left", "'user.left' is not the type of a message"),
        ])
    func checks(rule: String, message: String) {
        let yaml = """
            name: x
            version: 1
            platform: any
            start: a
            screens: { a: }
            transitions: [{ \(rule), do: [popToRoot] }]
            """
        do {
            _ = try Flow(yaml: yaml, file: "x.yaml")
            Issue.record("the flow was accepted")
        } catch {
            #expect(error.findings.contains { $0.message.hasPrefix(message) }, "\(error)")
        }
    }
}
