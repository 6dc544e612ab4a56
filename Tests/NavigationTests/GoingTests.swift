import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Coming back, popping by name and forgiving actions")
struct GoingTests {
    /// A session of a flow that takes the actions of `begin`; `event.Next` takes those of `next`.
    private func session(_ begin: Flow.Action..., next: Flow.Action...) throws -> Session {
        let flow = try Flow("going", version: 1, platform: "any", start: "a", requests: [.goTo, .pop]) {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "b",
                transitions: [
                    Flow.Transition(on: "event.InChild", do: [.push("c"), .present("d", as: .sheet)]),
                    Flow.Transition(on: "event.Home", do: [.goTo("a")]),
                    Flow.Transition(on: "event.First", do: [.goTo("b")]),
                ])
            Flow.Transition(on: "event.Begin", do: begin)
            Flow.Transition(on: "event.Next", do: next)
            Flow.Transition(on: "event.Never", do: [.show("b", column: "left")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes.isEmpty)
        return session
    }

    private static let tabs = Flow.Action.setRoot("a", container: .tabs(["b", .tab("search", "c")]))

    @Test("'goTo' comes back to an instance with the same arguments, and pushes otherwise")
    func back() throws {
        let path: [Flow.Action] = [.push(.screen("b", ["id": 1])), .push("c"), .push("d")]
        var same = try session(path[0], path[1], path[2], next: .goTo(.screen("b", ["id": "1"])))
        #expect(same.send("event.Next").dismissals == ["d-4", "c-3"])
        #expect(same.path == ["b"])
        let revision = same.machine.revision
        #expect(same.send("event.Next").isEmpty)
        #expect(same.machine.revision == revision)
        for other in [Flow.Destination.screen("b"), .screen("b", ["id": 2]), .screen("b", ["id": 1, "n": 1])] {
            var session = try session(path[0], path[1], path[2], next: .goTo(other))
            #expect(session.send("event.Next").dismissals.isEmpty)
            #expect(session.path == ["b", "c", "d", "b"])
        }
    }

    @Test("'goTo' dismisses presentations over the screen, and finds the root and the base of a sheet")
    func presentations() throws {
        var root = try session(.push("b"), .present("c", as: .sheet), .push("d"), next: .goTo("a"))
        #expect(root.send("event.Next").dismissals.count == 3)
        #expect(root.state.open.map(\.screen) == ["a"])
        var base = try session(.present("c", as: .sheet), .push("d"), .present("b", as: .popover), next: .goTo("c"))
        #expect(base.send("event.Next").dismissals == ["b-4", "d-3"])
        #expect(base.presented == ["c"])
    }

    @Test("'goTo' selects the tab of which the screen is the first one; the next action changes its path")
    func tabs() throws {
        var session = try session(
            Self.tabs, .selectTab("search"), .push("d"), .selectTab("b"), .present("d", as: .sheet),
            next: .goTo("c"), .push("a"))
        #expect(session.send("event.Next").dismissals == ["d-6", "d-5"])
        #expect(session.state.root.container?.selectedTab == "search")
        #expect(session.state.frontPath.map(\.screen) == ["a"])
        var root = try self.session(Self.tabs, .push("d"), .present("c", as: .sheet), next: .goTo("a"))
        #expect(root.send("event.Next").dismissals == ["c-6"])
        #expect(root.state.frontPath.map(\.screen) == ["d"])
    }

    @Test("'goTo' comes back to the first screen of a column")
    func columns() throws {
        var session = try session(
            .setRoot("a", container: .split), .show("b", column: "left"), .push("c", column: "left"),
            .present("d", as: .sheet), next: .goTo("b"))
        #expect(session.send("event.Next").dismissals == ["d-5", "c-4"])
        #expect(session.state.open.map(\.screen) == ["a", "b"])
    }

    @Test("In a child flow, 'goTo' never goes below the first screen of the run")
    func childFlow() throws {
        var session = try session(.pushFlow("child"), next: .pop)
        session.send("event.InChild")
        #expect(session.presented == ["d"])
        var first = session
        #expect(first.send("event.First").dismissals.count == 2)
        #expect(first.state.top.screen == "b")
        #expect(first.state.runs.count == 1)
        #expect(session.send("event.Home").dismissals.isEmpty)
        #expect(session.state.top.screen == "a")
        #expect(session.state.runs.count == 1)
    }

    @Test("A view can request 'goTo'; it is discarded if the screen is in front")
    func request() throws {
        var session = try session(.push("b"), .push("c"), next: .pop)
        #expect(session.request(["goTo": "b"]).dismissals == ["c-3"])
        #expect(session.request(["goTo": "b"]).discards.first?.contains("changes nothing") == true)
        #expect(session.request(["popTo": "a"]).dismissals == ["b-2"])
        session.request(["goTo": ["screen": "d", "arguments": ["id": 1]]])
        #expect(session.state.path.first?.arguments == ["id": 1])
    }

    @Test("'pop: { from }' pops the screen too, 'popTo' keeps it")
    func popFrom() throws {
        for (action, left) in [(Flow.Action.pop(.from("b")), ["c"]), (.popTo("b"), ["c", "b"])] {
            var session = try session(.replacePath(["c", "b", "d"]), next: action)
            session.send("event.Next")
            #expect(session.path == left)
        }
        var beneath = try session(.push("b"), .present("c", as: .sheet), next: .pop(.from("b")))
        #expect(beneath.send("event.Next").dismissals == ["b-2"])
        for screen in ["a", "d"] {
            var session = try session(.push("b"), next: .pop(.from(screen)))
            #expect(session.send("event.Next").failureCodes == ["navigation.notOnPath"])
        }
    }

    @Test("'ifPossible' skips an action that the state does not allow, but not a mistake")
    func ifPossible() throws {
        var session = try session(.push("b"), next: .ifPossible(.dismiss(nil)), .ifPossible(.popTo("d")), .push("c"))
        #expect(session.send("event.Next").failureCodes.isEmpty)
        #expect(session.path == ["b", "c"])
        var taken = try self.session(.present("b", as: .sheet), next: .ifPossible(.dismiss(nil)))
        #expect(taken.send("event.Next").dismissals == ["b-2"])
        var mistake = try self.session(.push("c"), next: .ifPossible(.push(.screen("b", ["id": "${data.id}"]))))
        #expect(mistake.send("event.Next").failureCodes == ["navigation.unresolvedTemplate"])
    }

    @Test("'replacePath' keeps the beginning of the path that is equal already")
    func replacePath() throws {
        var session = try session(
            .push("b"), .push(.screen("c", ["id": 1])), .push("d"),
            next: .replacePath(["b", .screen("c", ["id": "1"]), "a"]))
        #expect(session.send("event.Next").dismissals == ["d-4"])
        #expect(session.state.path.map(\.id) == ["b-2", "c-3", "a-5"])
        let revision = session.machine.revision
        #expect(session.send("event.Next").isEmpty)
        #expect(session.machine.revision == revision)
    }

    @Test("A screen with 'once' is not pushed or presented again while it is in front with the same arguments")
    func once() throws {
        let flow = try Flow("once", version: 1, platform: "any", start: "a", requests: [.push]) {
            Flow.Screen("a", sends: ["command.Show", "command.Ask"])
            Flow.Screen("b", once: true)
            Flow.Child("child", start: "b", transitions: [])
            Flow.Transition(on: "command.Show", do: [.push(.screen("b", ["id": "${data.id}"]))])
            Flow.Transition(on: "command.Ask", do: [.present("b", as: .sheet), .push(.screen("a"))])
            Flow.Transition(on: "command.Begin", do: [.pushFlow("child", arguments: ["id": "${data.id}"])])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        #expect(flow.json.value(at: "screens.b")?.description == #"{"once":true}"#)
        var session = Session(flow)
        session.send("command.Show", ["id": 1])
        session.send("command.Show", ["id": 1])
        #expect(session.path == ["b"])
        session.send("command.Begin", ["id": 1])
        #expect(session.state.runs.isEmpty)
        session.send("command.Show", ["id": 2])
        #expect(session.path == ["b", "b"])
        #expect(session.request(["push": ["screen": "b", "arguments": ["id": 2]]]).discards.count == 1)
        session.send("command.Ask")
        session.send("command.Ask")
        #expect(session.presented == ["b"])
        #expect(session.state.frontPath.map(\.screen) == ["a", "a"])
    }
}

extension Session {
    @discardableResult
    fileprivate mutating func request(_ action: JSONValue) -> [Machine.Effect] {
        send("command.NavigationRequested", ["action": action], platform: "any")
    }
}
