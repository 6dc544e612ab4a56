import Navigation
import SampleFlows
import Support
import Testing

@Suite("Actions")
struct ActionTests {
    /// A flow of five screens, in which `event.Go` takes `actions` and `event.Next` takes `next`.
    static func flow(_ actions: Flow.Action..., next: [Flow.Action] = [.dismissAll]) throws -> Flow {
        try Flow("letters", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c", "d", "e"] { Flow.Screen(name, sends: ["command.From\(name.uppercased())"]) }
            Flow.Transition(on: "event.Go", do: actions)
            Flow.Transition(on: "event.Next", do: next)
        }
    }

    private static let question = PresentationOptions(
        title: "Sure about ${data.name}?",
        message: "It has ${data.count}.",
        buttons: [AlertButton(id: "ok", title: "OK")]
    )

    @Test("Several actions are one step and one revision")
    func oneStep() throws {
        var session = Session(
            try Self.flow(.setRoot("b"), .push("c"), .push("d"), .pop, .present("e", as: .fullScreen)))
        session.send("event.Go")
        #expect(session.machine.revision == 1)
        #expect(session.root == "b")
        #expect(session.path == ["c"])
        #expect(session.presented == ["e"])
        #expect(session.leaving == ["a-1", "d-4"])
    }

    @Test("No action of a step is applied if one of them fails")
    func allOrNothing() throws {
        var session = Session(try Self.flow(.push("b"), .send(type: "command.FromA"), .pop, .pop))
        let before = session.machine
        #expect(session.send("event.Go").failureCodes == ["navigation.nothingToPop"])
        #expect(session.machine == before)
    }

    @Test("Push and pop change the path of the presentation that is in front")
    func pathOfPresentation() throws {
        var session = Session(
            try Self.flow(.push("b"), .present("c", as: .sheet), .push("d"), .push("e"), next: [.popToRoot]))
        session.send("event.Go")
        #expect(session.path == ["b"])
        #expect(session.state.presentations.first?.path.map(\.screen) == ["d", "e"])
        #expect(session.machine.snapshot.commands == ["command.FromE"])
        #expect(session.report("BackCompleted", "e-5").dismissals == ["e-5"])
        #expect(session.send("event.Next").dismissals == ["d-4"])
        #expect(session.state.presentations.first?.path == [])
        #expect(session.path == ["b"])
    }

    @Test("Nothing can be pushed on an alert")
    func pushOnAlert() throws {
        var session = Session(try Self.flow(.present("b", as: .alert, options: Self.question), next: [.push("c")]))
        session.send("event.Go", ["name": "x", "count": 3])
        #expect(session.send("event.Next").failureCodes == ["navigation.holdsNoStack"])
        #expect(session.path.isEmpty)
    }

    @Test("An alert's text is filled in from the message")
    func alertText() throws {
        var session = Session(try Self.flow(.present("b", as: .alert, options: Self.question)))
        session.send("event.Go", ["name": "Bach", "count": 3])
        #expect(session.state.presentations.first?.options.title == "Sure about Bach?")
        #expect(session.state.presentations.first?.options.message == "It has 3.")
        session.send("event.Next")
        #expect(
            session.send("event.Go", ["name": ["x"], "count": 3]).failureCodes == ["navigation.unresolvedTemplate"])
    }

    @Test("A dismissal by name closes the screen and all above it, one without a name the topmost presentation")
    func dismiss() throws {
        let cases: [(Flow.Action, [String])] = [
            (.dismiss("c"), ["b"]), (.dismiss(nil), ["b", "c"]), (.dismissAll, []), (.dismiss("b"), []),
        ]
        for (action, left) in cases {
            var session = Session(
                try Self.flow(
                    .present("b", as: .sheet), .present("c", as: .sheet), .present("d", as: .sheet), next: [action]))
            session.send("event.Go")
            session.send("event.Next")
            #expect(session.presented == left)
        }
    }

    @Test(
        "An action on a screen or column that does not exist fails and changes nothing",
        arguments: [
            (Flow.Action.dismiss("b"), "navigation.notPresented"), (.dismiss(nil), "navigation.notPresented"),
            (.pop, "navigation.nothingToPop"), (.show("b", column: "detail"), "navigation.notSplit"),
        ])
    func impossible(action: Flow.Action, code: String) throws {
        var session = Session(try Self.flow(action))
        #expect(session.send("event.Go").failureCodes == [code])
        #expect(session.machine.revision == 0)
    }

    @Test(
        "An action on something that is already empty changes nothing",
        arguments: [
            Flow.Action.dismissAll, .popToRoot, .replacePath([]),
        ])
    func nothingToDo(action: Flow.Action) throws {
        var session = Session(try Self.flow(action))
        #expect(session.send("event.Go").isEmpty)
        #expect(session.machine.revision == 0)
        #expect(session.machine.cause == nil)
    }

    @Test("Templates keep the type of a value, and refer to the state before the step")
    func templates() throws {
        let flow = try Flow("templates", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list")
            Flow.Screen("item")
            Flow.Screen("note")
            Flow.Transition(
                on: "event.Go",
                do: [.push(.screen("item", ["id": "${data.item.id}", "label": "no. ${data.item.id}/${data.flag}"]))])
            Flow.Transition(
                on: "event.Next",
                do: [
                    .popToRoot, .present(.screen("note", ["on": "${arguments.id}"]), as: .sheet),
                    .send(type: "command.NoteOpened", data: ["ids": ["${screens.item.id}"], "fixed": true]),
                ])
        }
        var session = Session(flow)
        session.send("event.Go", ["item": ["id": 7], "flag": true])
        #expect(session.state.path.first?.arguments == ["id": 7, "label": "no. 7/true"])
        let effects = session.send("event.Next")
        #expect(session.state.presentations.first?.instance.arguments == ["on": 7])
        #expect(effects.last == .send(type: "command.NoteOpened", data: ["ids": [7], "fixed": true]))
        #expect(session.send("event.Next").failureCodes == ["navigation.unresolvedTemplate"])
    }

    @Test("Only the first rule that matches is applied")
    func firstMatchWins() throws {
        let flow = try Flow("order", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Screen("b")
            Flow.Screen("c")
            Flow.Transition(on: "event.Go", where: ["song.kind": ["live", "studio"]], do: [.push("b")])
            Flow.Transition(on: "event.Go", when: [.path()], do: [.push("c")])
            Flow.Transition(on: "event.Go", unless: [.top("c")], do: [.pop])
        }
        var session = Session(flow)
        session.send("event.Go", ["song": ["kind": "live"]])
        #expect(session.path == ["b"])
        session.send("event.Go", ["song": ["kind": "radio"]])
        #expect(session.path.isEmpty)
        session.send("event.Go")
        #expect(session.path == ["c"])
        #expect(session.send("event.Go").isEmpty)
        #expect(session.path == ["c"])
    }
}
