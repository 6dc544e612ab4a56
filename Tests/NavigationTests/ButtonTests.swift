import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Buttons that send data and take actions")
struct ButtonTests {
    /// A tea timer. `Again` starts the tea of the alert once more; `rule` answers its command.
    private func session(
        do actions: [Flow.Action] = [.push(.screen("brewing", ["minutes": "${data.minutes}"]))],
        rule: Flow.Transition? = nil
    ) throws -> Session {
        let again = AlertButton(
            id: "again", title: "Again, ${data.minutes} min", sends: "command.BrewStarted",
            data: ["minutes": "${data.minutes}", "note": "${data.note}"], do: actions)
        let options = PresentationOptions(title: "Ready", buttons: [again, AlertButton(id: "ok", title: "OK")])
        let flow = try Flow(
            "tea", version: 1, platform: "ios", start: "menu",
            commands: ["command.BrewStarted": ["minutes": .init(.integer), "note": .init(.string, isRequired: false)]]
        ) {
            for name in ["menu", "brewing", "ready"] { Flow.Screen(name) }
            Flow.Transition(
                on: "event.BrewFinished",
                do: [
                    .present(.screen("ready", ["minutes": "${data.minutes}"]), as: .alert, options: options)
                ])
            rule ?? Flow.Transition(on: "command.BrewStarted", do: [.popToRoot])
            Flow.Transition(on: "command.Other", do: [.popToRoot])
        }
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        #expect(session.send("event.BrewFinished", ["minutes": 3]).failureCodes == [])
        return session
    }

    private static let sent = Machine.Effect.send(
        type: "command.BrewStarted", data: ["minutes": 3])

    @Test("The templates of a button are filled in when the alert is presented")
    func filled() throws {
        let session = try session()
        let button = try #require(session.state.presentations.first?.options.buttons?.first)
        #expect(button.title == "Again, 3 min")
        #expect(button.data == ["minutes": 3], "the optional field is left out")
        #expect(button.actions == [.push(.screen("brewing", ["minutes": 3]))])
    }

    @Test("The answer dismisses the alert, sends the command in its name and takes the actions, in one step")
    func answered() throws {
        var session = try session()
        let revision = session.machine.revision
        let effects = session.report("AlertAnswered", "ready-2", ["button": "again"])
        #expect(effects == [.screenDismissed(instance: "ready-2", screen: "ready"), Self.sent])
        #expect(session.presented == [])
        #expect(session.state.top.arguments == ["minutes": 3])
        #expect(session.path == ["brewing"])
        #expect(session.machine.revision == revision + 1)
        #expect(session.machine.rule == "transitions[0]", "the rule that presented the alert")
        #expect(session.report("AlertAnswered", "ready-2", ["button": "again"]) == [], "a repetition")
    }

    @Test("If the actions fail, the answer still counts")
    func failing() throws {
        var session = try session(do: [.push("brewing"), .dismiss("menu")])
        let effects = session.report("AlertAnswered", "ready-2", ["button": "again"])
        #expect(effects.failureCodes == ["navigation.notPresented"])
        #expect(effects.sent == ["command.BrewStarted"])
        #expect(session.presented == [] && session.path == [])
    }

    @Test("Filled-in text is literal, although it looks like a template")
    func literal() throws {
        var session = try session()
        session.report("AlertAnswered", "ready-2", ["button": "ok"])
        session.send("event.BrewFinished", ["minutes": "${data.x}"])
        let effects = session.report("AlertAnswered", "ready-3", ["button": "again"])
        #expect(
            effects.contains(.send(type: "command.BrewStarted", data: ["minutes": "${data.x}"])))
        #expect(session.state.top.arguments == ["minutes": "${data.x}"])
    }

    @Test(
        "A rule on the command of a button sees the answered alert",
        arguments: ["${sender.minutes}", "${arguments.minutes}", "${screens.ready.minutes}"])
    func sender(template: String) throws {
        var session = try session(
            do: [],
            rule: Flow.Transition(
                on: "command.BrewStarted", when: [.sender(.screen("ready", ["minutes": 3]))],
                do: [.push(.screen("brewing", ["minutes": .string(template)]))]))
        session.report("AlertAnswered", "ready-2", ["button": "again"])
        let effects = session.send("command.BrewStarted", ["minutes": 3], platform: "ios", causedBy: "m2")
        #expect(effects == [])
        #expect(session.state.top.arguments == ["minutes": 3])
        session.send("command.Other", platform: "ios", causedBy: "m2")
        #expect(session.path == [], "only the button's command has the alert as its sender")
        let late = session.send("command.BrewStarted", platform: "ios", instance: "ready-2")
        #expect(late.discards.first?.contains("was dismissed or never existed") == true)
    }

    @Test(
        "The answered alert is no open screen: actions on the sender fail, and an attempt belongs to the front screen")
    func closed() throws {
        var session = try session(
            do: [], rule: Flow.Transition(on: "command.BrewStarted", do: [.push("brewing", on: .sender)]))
        session.report("AlertAnswered", "ready-2", ["button": "again"])
        let effects = session.send("command.BrewStarted", platform: "ios", causedBy: "m2")
        #expect(effects.failureCodes == ["navigation.noSender"])
        let condition = Flow.Guard(ask: "command.Check", accept: "event.Checked", deadline: .seconds(1))
        var guarded = try self.session(
            do: [], rule: Flow.Transition(on: "command.BrewStarted", guard: condition, do: [.push("brewing")]))
        guarded.report("AlertAnswered", "ready-2", ["button": "again"])
        guarded.send("command.BrewStarted", platform: "ios", causedBy: "m2")
        #expect(guarded.state.attempt?.instance == "menu-1")
    }

    @Test("The answered alerts survive a restart, and at most four are kept")
    func restored() throws {
        var session = try session(do: [])
        for number in 2...7 {
            session.report("AlertAnswered", "ready-\(number)", ["button": "again"])
            session.send("event.BrewFinished", ["minutes": .integer(number)])
        }
        let json = try JSONValue(encoding: session.machine.snapshot)
        let snapshot = try json.decode(NavigationSnapshot.self)
        #expect(snapshot == session.machine.snapshot)
        let machine = Restoration(snapshot, flow: session.machine.flow).machine
        #expect(machine.snapshot.memory.answers?.map(\.question.id) == ["ready-4", "ready-5", "ready-6", "ready-7"])
    }

    @Test("Large arguments of answered alerts are not kept beyond the size that one screen may have")
    func large() throws {
        var session = try session(do: [])
        session.report("AlertAnswered", "ready-2", ["button": "ok"])
        let text = String(repeating: "x", count: 40_000)
        for number in 3...4 {
            session.send("event.BrewFinished", ["minutes": .string(text)])
            session.report("AlertAnswered", "ready-\(number)", ["button": "again"])
        }
        #expect(session.machine.snapshot.memory.answers?.map(\.question.id) == ["ready-4"])
    }

    @Test("A stored button with an invalid action makes the state unreadable, and does not trap")
    func damaged() throws {
        let snapshot = try JSONValue(encoding: session().machine.snapshot).description
        for action in ["\"jump\"", "{\"push\": 5.5}", "[]", "{\"push\": {\"screen\": []}}"] {
            let text = snapshot.replacing(
                "{\"push\":{\"arguments\":{\"minutes\":3},\"screen\":\"brewing\"}}", with: action)
            #expect(text != snapshot)
            if action != "{\"push\": 5.5}" {
                #expect(throws: DecodingError.self) {
                    try JSONValue(parsing: Data(text.utf8)).decode(NavigationSnapshot.self)
                }
            }
        }
        let unknown = snapshot.replacing("\"screen\":\"brewing\"", with: "\"screen\":\"former\"")
        let stored = try JSONValue(parsing: Data(unknown.utf8)).decode(NavigationSnapshot.self)
        var machine = try Restoration(stored, flow: session().machine.flow).machine
        let answer: JSONValue = ["instance": "ready-2", "button": "again"]
        let effects = machine.handle(
            .init(id: "x", type: "command.AlertAnswered", data: answer, attributes: .init(platform: "ios")))
        #expect(effects.failureCodes == ["navigation.unknownScreen"])
    }

    @Test("A button of a child flow's alert acts in the child flow")
    func childFlow() throws {
        let options = PresentationOptions(
            title: "Sure?", buttons: [AlertButton(id: "yes", title: "Yes", do: [.popToRoot, .push("brewing")])])
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            for name in ["menu", "brewing", "ready", "first"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "first",
                transitions: [Flow.Transition(on: "event.Ask", do: [.present("ready", as: .alert, options: options)])])
            Flow.Transition(on: "event.Go", do: [.push("brewing"), .pushFlow("child")])
        }
        var session = Session(flow)
        session.send("event.Go")
        session.send("event.Ask")
        session.report("AlertAnswered", session.state.top.id, ["button": "yes"])
        #expect(session.path == ["brewing", "first", "brewing"])
        #expect(session.state.top.run == session.state.runs.first?.id)
    }

    @Test("A link that waits for the answer is discarded if it would undo what the button opens")
    func parkedLink() throws {
        for (button, path) in [("again", ["brewing"]), ("ok", ["other"])] {
            let again = AlertButton(id: "again", title: "Again", do: [.push("brewing")])
            let options = PresentationOptions(title: "Ready", buttons: [again, AlertButton(id: "ok", title: "OK")])
            let flow = try Flow("tea", version: 1, platform: "ios", start: "menu") {
                for name in ["menu", "brewing", "ready", "other"] { Flow.Screen(name) }
                Flow.Transition(on: "event.BrewFinished", do: [.present("ready", as: .alert, options: options)])
                Flow.Link("tea://other", to: .init(root: "menu", path: ["other"]))
            }
            var session = Session(flow)
            session.send("event.BrewFinished")
            session.open("tea://other")
            #expect(session.state.parked != nil)
            let effects = session.report("AlertAnswered", "ready-2", ["button": .string(button)])
            #expect(session.path == path)
            #expect(effects.discards.isEmpty == (button == "ok"))
        }
    }

    @Test("A view cannot request an alert whose buttons take actions that it may not request")
    func requests() throws {
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu", requests: [.present, .push]) {
            for name in ["menu", "ready"] { Flow.Screen(name) }
        }
        var session = Session(flow)
        func request(_ action: JSONValue) -> [Machine.Effect] {
            let button: JSONValue = ["id": "a", "title": "A", "do": [action]]
            return session.send(
                "command.NavigationRequested",
                ["action": ["present": ["screen": "ready", "style": "dialog", "buttons": [button]]]])
        }
        #expect(request(["setRoot": "ready"]).discards.first?.contains("'setRoot'") == true)
        #expect(request(["push": "ready"]) == [])
    }

    @Test(
        "A button that cannot be used is an error with its place",
        arguments: [
            ("do: [finish]", "a button cannot take 'finish'"), ("do: [{ push: brewin }]", "unknown screen 'brewin'"),
            ("sends: { type: event.A }", "'event.A' is not the type of a command"),
            ("sends: { type: command.A, data: { x: '${x.y}' } }", "unknown name 'x' in a template"),
            ("sends: { data: {} }", "'send' lacks 'type'; add it"), ("do: jump", "'do' must be a list of actions"),
        ])
    func mistakes(button: String, expected: String) {
        let yaml = """
            name: x
            version: 1
            platform: ios
            start: a
            screens: { a: , brewing: }
            transitions:
              - on: event.A
                do: [{ present: { screen: a, style: dialog, buttons: [{ id: a, title: A, \(button) }] } }]
            """
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }
        #expect(found.first?.message.contains(expected) == true && found.first?.line == 8, "\(found)")
    }
}
