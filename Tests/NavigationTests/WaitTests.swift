import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Rules that wait")
struct WaitTests {
    private func flow(_ rules: Flow.Transition...) throws -> Flow {
        let flow = try Flow("waits", version: 1, platform: "any", start: "splash") {
            for name in ["splash", "list", "hint"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "list",
                transitions: [Flow.Transition(after: .seconds(1), when: [.top("list")], do: [.finish()])])
            for rule in rules { rule }
            Flow.Transition(on: "event.Splash", do: [.setRoot("splash")])
            Flow.Transition(on: "event.List", do: [.setRoot("list")])
            Flow.Transition(on: "event.Hint", do: [.push("hint")])
            Flow.Transition(on: "event.Child", do: [.pushFlow("child")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        #expect(flow.messageTypes.contains(Machine.deadlinePassed))
        return flow
    }

    private static let leaves = Flow.Transition(after: .seconds(3), when: [.top("splash")], do: [.setRoot("list")])

    private func expire(_ session: inout Session, _ id: String) -> [Machine.Effect] {
        session.send("event.GuardDeadlinePassed", ["attempt": .string(id)], platform: "any")
    }

    @Test("The wait begins with the first message, and its end takes the actions once")
    func fires() throws {
        var session = Session(try flow(Self.leaves))
        #expect(session.send("event.LaunchFinished") == [.expectAnswer(attempt: "m1.any.wait-2", within: .seconds(3))])
        #expect(session.state.waits.map(\.id) == ["m1.any.wait-2"])
        #expect(session.send("event.LaunchFinished").isEmpty)
        #expect(expire(&session, "m1.any.wait-2").dismissals == ["splash-1"])
        #expect(session.root == "list")
        #expect(session.machine.rule == "transitions[0]")
        #expect(session.state.waits.isEmpty)
        #expect(expire(&session, "m1.any.wait-2").isEmpty)
        #expect(expire(&session, "other").discards.count == 1)
        let effects = session.send("event.Splash")
        #expect(effects.contains(.expectAnswer(attempt: "m6.any.wait-5", within: .seconds(3))), "\(effects)")
    }

    @Test("If the conditions stop to hold, the wait ends, and its deadline is ignored")
    func interrupted() throws {
        var session = Session(try flow(Self.leaves))
        session.send("event.LaunchFinished")
        session.send("event.Hint")
        #expect(session.state.waits.isEmpty)
        let revision = session.machine.revision
        #expect(expire(&session, "m1.any.wait-2").isEmpty)
        #expect(session.machine.revision == revision)
        session.report("BackCompleted", session.state.path[0].id)
        #expect(session.state.waits.count == 1)
        #expect(session.state.waits.first?.id != "m1.any.wait-2")
    }

    @Test("A rule that leaves its conditions true fires again only after they were false")
    func stays() throws {
        let rule = Flow.Transition(after: .seconds(1), when: [.root("splash")], do: [.push("hint")])
        var session = Session(try flow(rule))
        session.send("event.LaunchFinished")
        let id = try #require(session.state.waits.first?.id)
        _ = expire(&session, id)
        #expect(session.path == ["hint"])
        #expect(session.state.waits.map(\.isOver) == [true])
        #expect(expire(&session, id).isEmpty)
        #expect(session.send("event.Hint").isEmpty)
        #expect(session.path == ["hint", "hint"])
        session.send("event.List")
        #expect(session.state.waits.isEmpty)
        session.send("event.Splash")
        #expect(session.state.waits.map(\.isOver) == [nil])
    }

    @Test("Conditions of a rule that waits may compare the arguments of open screens")
    func templates() throws {
        let rule = Flow.Transition(
            after: .seconds(1),
            when: [
                .path(.screen("list", ["id": "${screens.hint.id}"])), .top(.screen("hint", ["id": "${arguments.id}"])),
            ], do: [.popToRoot])
        let flow = try Flow("waits", version: 1, platform: "any", start: "splash") {
            for name in ["splash", "list", "hint"] { Flow.Screen(name) }
            rule
            Flow.Transition(on: "event.List", do: [.push(.screen("list", ["id": "${data.id}"]))])
            Flow.Transition(on: "event.Hint", do: [.push(.screen("hint", ["id": "${data.id}"]))])
        }
        #expect(rule.on.isEmpty && flow.transitions[0].triggers == ["after 1s"])
        #expect(flow.ruleCount == 3, "a rule that waits counts, too")
        var session = Session(flow)
        session.send("event.List", ["id": 1])
        session.send("event.Hint", ["id": 2])
        #expect(session.state.waits.isEmpty)
        session.send("event.Hint", ["id": 1])
        let wait = try #require(session.state.waits.first)
        #expect(Restoration(session.machine.snapshot, flow: flow).machine.state.waits == [wait])
        _ = expire(&session, wait.id)
        #expect(session.path.isEmpty && session.state.waits.isEmpty)
    }

    @Test("For another instance of the screen, the wait begins again; more instances beneath do not matter")
    func instances() throws {
        let rule = Flow.Transition(after: .seconds(1), when: [.root("splash"), .path("hint")], do: [.setRoot("list")])
        var session = Session(try flow(rule))
        session.send("event.Hint")
        let first = try #require(session.state.waits.first)
        #expect(first.instances == ["hint-2", "splash-1"])
        session.send("event.Hint")
        #expect(session.state.waits == [first])
        session.send("event.Splash")
        session.send("event.Hint")
        let second = try #require(session.state.waits.first)
        #expect(second.id != first.id)
        #expect(expire(&session, first.id).isEmpty && session.root == "splash")
        _ = expire(&session, second.id)
        #expect(session.root == "list")
    }

    @Test("A wait whose actions fail is over, and the failure is reported")
    func failure() throws {
        let rule = Flow.Transition(after: .seconds(1), when: [.root("splash")], do: [.dismiss(nil)])
        var session = Session(try flow(rule))
        session.send("event.LaunchFinished")
        let id = try #require(session.state.waits.first?.id)
        #expect(expire(&session, id).failureCodes == ["navigation.notPresented"])
        #expect(session.state.waits.map(\.isOver) == [true])
    }

    @Test("A child flow waits in each run")
    func childFlow() throws {
        var session = Session(try flow(Self.leaves))
        session.send("event.Child")
        let wait = try #require(session.state.waits.first { $0.run != nil })
        #expect(wait.run == session.state.runs.first?.id)
        _ = expire(&session, wait.id)
        #expect(session.state.runs.isEmpty)
        #expect(session.state.waits.allSatisfy { $0.run == nil })
    }

    @Test("A restored session waits again, unless the flow has changed")
    func restored() throws {
        var session = Session(try flow(Self.leaves))
        session.send("event.LaunchFinished")
        let json = try JSONValue(encoding: session.machine.snapshot).description
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: Data(json.utf8))
        #expect(snapshot == session.machine.snapshot)
        let same = Restoration(snapshot, flow: session.machine.flow)
        #expect(same.effects == [.expectAnswer(attempt: "m1.any.wait-2", within: .seconds(3))])
        #expect(same.machine == session.machine)
        let other = Restoration(
            snapshot,
            flow: try flow(Flow.Transition(after: .seconds(4), when: [.top("splash")], do: [.setRoot("list")])))
        #expect(other.effects.isEmpty)
        #expect(other.machine.state.waits.isEmpty)
    }

    @Test(
        "A rule that waits is checked",
        arguments: [
            ("after: 2h, when: { top: a }, do: [pop]", "the time in 'after' must be at least 1ms and at most 1h"),
            ("after: 0s, when: { top: a }, do: [pop]", "the time in 'after' must be at least 1ms and at most 1h"),
            ("after: soon, when: { top: a }, do: [pop]", "'soon' is not a duration"),
            ("after: 1s, do: [pop]", "a rule with 'after' needs conditions that hold for this time; add 'when'"),
            (
                "after: 1s, on: event.A, when: { top: a }, do: [pop]",
                "a rule with 'after' answers no message; remove 'on'"
            ),
            ("after: 1s, when: { sender: a }, do: [pop]", "a rule with 'after' has no sender; name another part"),
            ("after: 1s, when: { top: a }, do: [pop: sender]", "a rule with 'after' has no sender; name a screen"),
            (
                "after: 1s, when: { top: a }, do: [push: { screen: a, arguments: { x: '${data.x}' } }]",
                "a rule with 'after' has no message and no sender; use only"
            ),
            ("when: { top: a }, do: [pop]", "a rule lacks 'on'; add it"),
            ("on: after 1s, do: [pop]", "'after 1s' is not the type of a message"),
        ])
    func checks(rule: String, message: String) {
        let yaml = """
            name: x
            version: 1
            platform: any
            start: a
            screens: { a: }
            transitions: [{ \(rule) }]
            """
        do {
            _ = try Flow(yaml: yaml, file: "x.yaml")
            Issue.record("the flow was accepted")
        } catch {
            #expect(error.findings.contains { $0.message.hasPrefix(message) }, "\(error)")
        }
    }
}
