import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Changing the arguments of an open screen")
struct UpdateTests {
    private func session(_ begin: Flow.Action..., update: Flow.Action) throws -> Session {
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu", requests: [.update]) {
            for name in ["menu", "brewing", "other"] { Flow.Screen(name) }
            Flow.Screen("timer", arguments: ["minutes": .init(.integer), "note": .init(.string, isRequired: false)])
            Flow.Transition(on: "event.Begin", do: begin)
            Flow.Transition(
                on: "event.Never", do: [.setRoot("menu", container: .split), .show("other", column: "left")])
            Flow.Transition(on: "command.Changed", do: [update])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes == [])
        return session
    }

    private static let update = Flow.Action.update(.screen("brewing", ["minutes": "${data.minutes}"]))
    private static let brewing = Flow.Destination.screen("brewing", ["minutes": 1, "colour": "red"])

    @Test("The named arguments change, the others and the instance stay, and views see one change")
    func changed() throws {
        var session = try session(.push(Self.brewing), .push("other"), update: Self.update)
        let former = session.machine.snapshot
        #expect(session.send("command.Changed", ["minutes": 5]) == [])
        let updated = ScreenInstance(screen: "brewing", id: "brewing-2", arguments: ["minutes": 5, "colour": "red"])
        #expect(session.state.path.first == updated)
        #expect(session.machine.revision == former.revision + 1)
        #expect(session.state.steps(from: former.state) == [.update(updated)])
        #expect(NavigationChange(to: session.machine.snapshot, from: former).description.contains("changed"))
        #expect(session.send("command.Changed", ["minutes": 5]) == [])
        #expect(session.machine.revision == former.revision + 1, "nothing has changed")
    }

    @Test("The sender is changed, otherwise the frontmost instance")
    func target() throws {
        var session = try session(.push(Self.brewing), .push(Self.brewing), update: Self.update)
        session.send("command.Changed", ["minutes": 5], platform: "ios", instance: "brewing-2")
        #expect(session.state.path.map { $0.arguments["minutes"] } == [5, 1])
        session.send("command.Changed", ["minutes": 6], platform: "ios", instance: "menu-1")
        #expect(session.state.path.map { $0.arguments["minutes"] } == [5, 6])
    }

    @Test(
        "A screen is changed wherever it is",
        arguments: [
            [.setRoot(brewing)], [.setRoot("menu", container: .split), .show(brewing, column: "left")],
            [.setRoot("menu", container: .tabs([.tab("a", "menu"), .tab("b", brewing)]))],
            [.present(brewing, as: .sheet)], [.present("menu", as: .sheet), .push(brewing)],
            [.setRoot("menu", container: .tabs([.tab("a", "menu")])), .push(brewing)],
        ] as [[Flow.Action]])
    func places(begin: [Flow.Action]) throws {
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            for name in ["menu", "brewing"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Begin", do: begin)
            Flow.Transition(on: "command.Changed", do: [Self.update])
        }
        var session = Session(flow)
        session.send("event.Begin")
        #expect(session.send("command.Changed", ["minutes": 5]).failureCodes == [])
        #expect(
            session.state.open.filter { $0.screen == "brewing" }.map(\.arguments) == [["minutes": 5, "colour": "red"]])
    }

    @Test("The action fails if the screen is not open, or if its arguments would be too large")
    func failures() throws {
        var session = try session(.push("other"), update: Self.update)
        #expect(session.send("command.Changed", ["minutes": 5]).failureCodes == ["navigation.notOpen"])
        var large = try self.session(.push(Self.brewing), update: Self.update)
        let text = JSONValue.string(String(repeating: "x", count: 70_000))
        #expect(large.send("command.Changed", ["minutes": text]).failureCodes == ["navigation.argumentsTooLarge"])
        #expect(large.state.top.arguments["minutes"] == 1)
    }

    @Test("An optional argument without a value stays as it is; a view can request the action")
    func optional() throws {
        let update = Flow.Action.update(.screen("timer", ["minutes": "${data.minutes}", "note": "${data.note}"]))
        var session = try session(.push(.screen("timer", ["minutes": 1, "note": "a"])), update: update)
        session.send("command.Changed", ["minutes": 2])
        #expect(session.state.top.arguments == ["minutes": 2, "note": "a"])
        let action: JSONValue = ["update": ["screen": "timer", "arguments": ["note": "${x}"]]]
        #expect(session.send("command.NavigationRequested", ["action": action]) == [])
        #expect(session.state.top.arguments == ["minutes": 2, "note": "${x}"])
    }

    @Test(
        "An action that cannot be used is an error",
        arguments: [
            ("update: timer", "'update' must be a mapping with the keys screen, arguments"),
            ("update: { screen: timer }", "'update' lacks 'arguments'; add it"),
            ("update: { screen: timre, arguments: {} }", "unknown screen 'timre'"),
            ("update: { screen: timer, arguments: { note: a } }", nil),
            ("update: { screen: timer, arguments: { minutes: a } }", "expected a whole number, found a string"),
            ("update: { screen: timer, arguments: { minute: 1 } }", "unknown field; did you mean 'minutes'?"),
        ] as [(String, String?)])
    func mistakes(action: String, expected: String?) {
        let yaml = """
            name: x
            version: 1
            platform: ios
            start: menu
            screens: { menu: , timer: { arguments: { minutes: integer, note?: string } } }
            transitions: [{ on: event.A, do: [{ \(action) }] }]
            """
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }
        #expect(found.count == (expected == nil ? 0 : 1), "\(found)")
        if let expected { #expect(found.first?.message.contains(expected) == true, "\(found)") }
    }
}
