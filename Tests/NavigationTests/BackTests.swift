import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Going back")
struct BackTests {
    private func session(history: Bool = false, begin: Flow.Action...) throws -> Session {
        let flow = try Flow("back", version: 1, platform: "any", start: "a", requests: [.back, .push]) {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name) }
            Flow.Screen("payment", back: false)
            Flow.Child(
                "child", start: "b", transitions: [Flow.Transition(on: "event.ChildBack", do: [.back])])
            Flow.Transition(on: "event.Begin", do: begin)
            Flow.Transition(on: "event.Back", do: [.back])
            Flow.Transition(on: "event.Pop", do: [.pop])
            Flow.Transition(
                on: "event.Tabs",
                do: [.setRoot("a", container: .tabs(["b", "c", "d"], history: history))])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes.isEmpty)
        return session
    }

    private func request(_ session: inout Session, instance: String? = nil) -> [Machine.Effect] {
        session.send("command.NavigationRequested", ["action": "back"], platform: "any", instance: instance)
    }

    @Test("The user cannot go back from a screen with 'back: false', or from one beneath it; a rule can")
    func forbidden() throws {
        var session = try session(begin: .push("b"), .push("payment"), .present("c", as: .sheet), .push("d"))
        #expect(session.machine.snapshot.withoutBack == ["b-2", "payment-3"])
        let before = session.state
        for (report, instance) in [
            ("BackStarted", "payment-3"), ("BackCompleted", "payment-3"), ("BackCompleted", "b-2"),
        ] {
            #expect(
                session.report(report, instance).discards
                    == ["command.\(report): the user cannot go back from screen instance '\(instance)'"])
        }
        #expect(session.report("BackCancelled", "payment-3").isEmpty)
        #expect(session.state == before)
        #expect(session.report("BackCompleted", "d-5").dismissals == ["d-5"])
        session.report("PresentationDismissed", "c-4")
        #expect(session.send("event.Back").failureCodes == ["navigation.cannotGoBack"])
        #expect(request(&session).discards.first?.contains("cannot go back from screen instance 'payment-3'") == true)
        #expect(session.send("event.Pop").dismissals == ["payment-3"])
        #expect(session.machine.snapshot.withoutBack == [])
        #expect(session.report("BackCompleted", "b-2").dismissals == ["b-2"])
    }

    @Test("A snapshot lists the instances that cannot be left only if there are some")
    func snapshot() throws {
        let session = try session(begin: .push("payment"))
        let json = try JSONValue(encoding: session.machine.snapshot)
        #expect(json["withoutBack"] == ["payment-2"])
        let decoded = try JSONDecoder().decode(NavigationSnapshot.self, from: Data(json.description.utf8))
        #expect(decoded == session.machine.snapshot)
        let other = try JSONValue(encoding: try self.session(begin: .push("b")).machine.snapshot)
        #expect(other["withoutBack"] == nil)
        #expect(other.value(at: "state.tabHistory") == nil)
    }

    @Test("'back' pops, then dismisses, then selects the tab before; then the app may be left")
    func back() throws {
        var session = try session(history: true, begin: .push("b"))
        session.send("event.Tabs")
        session.report("TabSelected", "a-3", ["tab": "c"])
        session.report("TabSelected", "a-3", ["tab": "d"])
        session.report("TabSelected", "a-3", ["tab": "c"])
        #expect(session.state.tabHistory == ["b", "d"])
        session.send("command.NavigationRequested", ["action": ["push": "b"]], platform: "any")
        #expect(request(&session).dismissals == ["b-7"])
        #expect(request(&session).isEmpty)
        #expect(session.state.root.container?.selectedTab == "d")
        #expect(session.state.tabHistory == ["b"])
        session.send("event.Back")
        #expect(session.state.root.container?.selectedTab == "b")
        #expect(session.send("event.Back").failureCodes == ["navigation.nothingToGoBackTo"])
        #expect(request(&session).discards == ["command.NavigationRequested: nothing to go back to"])
        let kept = Restoration(session.machine.snapshot, flow: session.machine.flow).machine
        #expect(kept.state == session.state)
    }

    @Test("Without a history of tabs, 'back' does not select a tab")
    func withoutHistory() throws {
        var session = try session(begin: .push("b"))
        session.send("event.Tabs")
        session.report("TabSelected", "a-3", ["tab": "c"])
        #expect(session.state.tabHistory == nil)
        #expect(session.send("event.Back").failureCodes == ["navigation.nothingToGoBackTo"])
    }

    @Test("'back' dismisses only a presentation that the user may dismiss")
    func presentations() throws {
        var sheet = try session(begin: .present("b", as: .sheet))
        #expect(sheet.send("event.Back").dismissals == ["b-2"])
        let stays = PresentationOptions(interactiveDismissal: false)
        for action in [Flow.Action.present("b", as: .sheet, options: stays), .present("b", as: .fullScreen)] {
            var session = try session(begin: action)
            #expect(session.send("event.Back").failureCodes == ["navigation.cannotGoBack"])
            #expect(session.presented == ["b"])
        }
    }

    @Test("In a rule of a child flow, 'back' does not pop the first screen of the run")
    func childFlow() throws {
        var session = try session(begin: .pushFlow("child"), .push("c"))
        #expect(session.send("event.ChildBack").failureCodes.isEmpty)
        #expect(session.send("event.ChildBack").failureCodes == ["navigation.nothingToGoBackTo"])
        #expect(session.path == ["b"])
    }

    @Test("A stored history of tabs is cleaned when it is read")
    func hostileHistory() throws {
        var session = try session(history: true, begin: .push("b"))
        session.send("event.Tabs")
        var snapshot = session.machine.snapshot
        snapshot.state.tabHistory = ["x", "c", "d", "b", "c"]
        let json = try JSONValue(encoding: snapshot).description
        let decoded = try JSONDecoder().decode(NavigationSnapshot.self, from: Data(json.utf8))
        #expect(decoded.state.tabHistory == ["d", "c"])
    }
}
