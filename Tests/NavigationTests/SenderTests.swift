import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("The sender of a message")
struct SenderTests {
    /// A session of a flow with these rules, after the actions of `begin`.
    private func session(_ rules: [Flow.Transition], begin: Flow.Action...) throws -> Session {
        let flow = try Flow(
            "letters", version: 1, platform: "ios", start: "a",
            requests: [.push, .pop, .popToRoot, .dismiss, .setRoot, .selectTab]
        ) {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Begin", do: begin)
            for rule in rules { rule }
            // The checker requires that some rule shows these columns.
            Flow.Transition(on: "event.Never", do: [.show("b", column: "left"), .show("b", column: "right")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes.isEmpty)
        return session
    }

    private static let columns: [Flow.Action] = [
        .setRoot("a", container: .split), .show(.screen("b", ["id": 1]), column: "left"),
        .show(.screen("b", ["id": 2]), column: "right"),
    ]

    private func columnSession(_ actions: Flow.Action..., when: Flow.Condition...) throws -> Session {
        try session(
            [Flow.Transition(on: "command.Go", when: when, do: actions)],
            begin: Self.columns[0], Self.columns[1], Self.columns[2])
    }

    @Test(
        "Templates are filled with the arguments of the sender, not of the frontmost instance",
        arguments: ["${screens.b.id}", "${arguments.id}", "${sender.id}"])
    func templates(template: String) throws {
        for (instance, id) in [("b-3", "1"), ("b-4", "2")] {
            var session = try columnSession(.openURL("https://example.org/\(template)"))
            let effects = session.command(from: instance)
            #expect(effects == [.openURL("https://example.org/\(id)")])
        }
    }

    @Test("A rule without a sender uses the frontmost instance, and `sender` has no value")
    func noSender() throws {
        var frontmost = try columnSession(.openURL("https://example.org/${screens.b.id}"))
        #expect(frontmost.command(from: nil) == [.openURL("https://example.org/2")])
        #expect(frontmost.command(from: "a-2") == [.openURL("https://example.org/2")])
        var unknown = try columnSession(.openURL("https://example.org/${sender.id}"))
        #expect(unknown.command(from: nil).failureCodes == ["navigation.unresolvedTemplate"])
        for action in [Flow.Action.pop(.sender), .dismiss(.sender), .push("c", on: .sender)] {
            var session = try columnSession(action)
            #expect(session.command(from: nil).failureCodes == ["navigation.noSender"])
        }
    }

    @Test("An instance in a tab that is not selected is not the frontmost one")
    func hiddenTab() throws {
        var session = try session(
            [Flow.Transition(on: "event.Go", do: [.openURL("https://example.org/${screens.c.id}")])],
            begin: .setRoot("a", container: .tabs(["a", "b"])), .push(.screen("c", ["id": 1])), .selectTab("b"),
            .push(.screen("c", ["id": 2])), .selectTab("a"))
        #expect(session.send("event.Go") == [.openURL("https://example.org/1")])
    }

    @Test("'on: sender' pushes in the sender's stack")
    func pushOn() throws {
        var session = try columnSession(.push("c", on: .sender))
        session.command(from: "b-3")
        session.command(from: "b-4")
        session.command(from: "a-2")
        #expect(session.columns == ["left": ["c"], "right": ["c"]])
        #expect(session.path == ["c"])
    }

    @Test("A condition can test the sender's screen, or whether there is a sender")
    func condition() throws {
        var session = try columnSession(.push("c"), when: .sender(.screen("b", ["id": 1])))
        session.command(from: "b-4")
        #expect(session.path.isEmpty)
        session.command(from: "b-3")
        #expect(session.path == ["c"])
        var nobody = try columnSession(.push("c"), when: .sender())
        nobody.command(from: "b-3")
        #expect(nobody.path.isEmpty)
        nobody.command(from: nil)
        #expect(nobody.path == ["c"])
    }

    @Test("'pop: sender' closes the sender and all above it, but not a question over it")
    func popSender() throws {
        let question = PresentationOptions(title: "Sure?", buttons: [AlertButton(id: "yes", title: "Yes")])
        var session = try session(
            [
                Flow.Transition(on: "command.Go", do: [.pop(.sender)]),
                Flow.Transition(on: "event.Ask", do: [.present("d", as: .alert, options: question)]),
                Flow.Transition(on: "event.Sheet", do: [.present("d", as: .sheet)]),
            ], begin: .push("b"), .push("c"), .push("d"))
        var asked = session
        asked.send("event.Ask")
        #expect(asked.command(from: "c-3").dismissals == ["d-4", "c-3"])
        #expect(asked.presented == ["d"])
        session.send("event.Sheet")
        #expect(session.command(from: "c-3").dismissals == ["d-5", "d-4", "c-3"])
        #expect(session.path == ["b"])
        #expect(session.command(from: "a-1").failureCodes == ["navigation.notOnPath"])
    }

    @Test("'dismiss: sender' closes the sender's presentation and all over it")
    func dismissSender() throws {
        var session = try session(
            [Flow.Transition(on: "command.Go", do: [.dismiss(.sender)])],
            begin: .present("b", as: .sheet), .push("c"), .present("d", as: .popover))
        #expect(session.command(from: "a-1").failureCodes == ["navigation.notPresented"])
        var lower = session
        #expect(lower.command(from: "c-3").dismissals == ["d-4", "c-3", "b-2"])
        #expect(session.command(from: "d-4").dismissals == ["d-4"])
    }

    @Test("The sender of a guard's answer is the screen that asked")
    func answer() throws {
        let condition = Flow.Guard(accept: "event.Answered", deadline: .seconds(5))
        var session = try session(
            [Flow.Transition(on: "command.Go", when: [.sender("b")], guard: condition, do: [.push("c", on: .sender)])],
            begin: Self.columns[0], Self.columns[1], Self.columns[2])
        session.command(from: "b-3")
        session.send("event.Answered", causedBy: "m2")
        #expect(session.columns == ["left": ["c"], "right": []])
    }

    @Test("The condition `path` finds the same screens as `pop`, also beneath a sheet")
    func path() throws {
        var session = try session(
            [
                Flow.Transition(on: "event.Sheet", do: [.present("d", as: .sheet)]),
                Flow.Transition(on: "event.PushC", do: [.push("c")]),
                Flow.Transition(on: "event.Go", when: [.path("b")], do: [.pop("b")]),
                Flow.Transition(on: "event.Clear", unless: [.path()], do: [.popToRoot]),
            ], begin: .push("b"), .push("c"))
        session.send("event.Sheet")
        var pushed = session
        #expect(session.send("event.Go").dismissals == ["c-3"])
        #expect(session.path == ["b"] && session.presented == ["d"])
        pushed.send("event.PushC")
        #expect(pushed.send("event.Clear").dismissals == ["c-5"])
    }

    @Test(
        "A request of a covered screen does not remove the screen above it",
        arguments: ["pop", "dismiss", ["pop": 1]] as [JSONValue])
    func coveredRequest(action: JSONValue) throws {
        var session = try session([], begin: .push("b"), .push("c"))
        let before = session.machine
        func discard(_ instance: String) -> [String] {
            [
                "command.NavigationRequested: another screen covers the screen instance '\(instance)', which sent the request"
            ]
        }
        #expect(session.request(action, from: "b-2").discards == discard("b-2"))
        #expect(session.machine == before)
    }

    @Test("A screen can pop its own path, and `sender` closes it with all above it")
    func requests() throws {
        var session = try session(
            [], begin: Self.columns[0], Self.columns[1], Self.columns[2], .push("c", column: "left"), .push("d"))
        #expect(session.request("pop", from: "c-5").dismissals == ["c-5"])
        #expect(session.request("pop", from: "b-3").discards.count == 1)
        session.request(["push": ["screen": "c", "on": "sender"]], from: "b-3")
        #expect(session.columns == ["left": ["c"], "right": []])
        session.request(["push": "b"], from: "d-6")
        #expect(session.request(["pop": "sender"], from: "d-6").dismissals.count == 2)
        #expect(session.path.isEmpty)
        var tabs = try self.session([], begin: .setRoot("a", container: .tabs(["a", "b"])), .push("c"))
        #expect(tabs.request("pop", from: "a-2").dismissals == ["c-5"])
    }

    @Test(
        "Mistakes with the sender are found",
        arguments: [
            ("screens: { a: , sender: }", "'sender' means the screen that sent a message"),
            ("do: [{ push: { screen: a, on: b } }]", "'on' must be 'sender'; to push in a column, write 'column: b'"),
            (
                "do: [{ push: { screen: a, on: sender, column: b } }]",
                "'push' takes either 'column' or 'on'; remove one"
            ),
            ("do: [{ pop: { to: sender, column: b } }]", "the sender determines the column; remove 'column'"),
            ("do: [{ dismiss: sendre }]", "unknown screen 'sendre'"),
            ("do: [{ openURL: 'x:${sendre.id}' }]", "unknown name 'sendre' in a template"),
            ("do: [{ openURL: 'x:${sender}' }]", "'${sender}' is incomplete"),
        ])
    func findings(part: String, expected: String) throws {
        let rules =
            part.hasPrefix("do")
            ? "screens: { a: }\ntransitions: [{ on: event.A, \(part) }]" : "\n\(part)\ntransitions: []"
        let yaml = "name: x\nversion: 1\nplatform: any\nstart: a\n" + rules
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml, file: "x.yaml") }
        let found = error?.findings.map(\.description) ?? []
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test("A link has no sender")
    func link() throws {
        let yaml = """
            name: x
            version: 1
            platform: ios
            start: a
            screens: { a: }
            transitions: []
            links: [{ url: 'x:a', when: { sender: a }, to: { root: a } }]
            """
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml, file: "x.yaml") }
        #expect(error?.findings.map(\.description) == ["x.yaml:7:31: no screen sends a link; remove 'sender'"])
    }
}

extension Session {
    @discardableResult
    fileprivate mutating func command(from instance: String?) -> [Machine.Effect] {
        send("command.Go", platform: "ios", instance: instance)
    }

    @discardableResult
    fileprivate mutating func request(_ action: JSONValue, from instance: String) -> [Machine.Effect] {
        send("command.NavigationRequested", ["action": action], platform: "ios", instance: instance)
    }

    /// The screens on the paths of columns, by name.
    fileprivate var columns: [String: [String]] {
        guard case .split(let columns) = state.root.container else { return [:] }
        return columns.mapValues { $0.path.map(\.screen) }
    }
}
