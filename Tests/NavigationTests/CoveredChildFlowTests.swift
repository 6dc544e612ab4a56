import Navigation
import SampleFlows
import Support
import Testing

@Suite("Child flows that are not in front")
struct CoveredChildFlowTests {
    private static let question = PresentationOptions(title: "Offline", buttons: [AlertButton(id: "ok", title: "OK")])

    /// A session in which a sign-up has begun, in the container that `root` sets if it is not nil.
    private func session(root: [Flow.Action] = [], begin: Flow.Action = .pushFlow("signUp")) throws -> Session {
        let flow = try Flow("shop", version: 1, platform: "mac", start: "home") {
            for name in ["home", "credentials", "code", "help", "welcome", "done"] { Flow.Screen(name) }
            Flow.Child(
                "signUp", start: "credentials",
                transitions: [
                    Flow.Transition(on: "event.CodeSent", when: [.top("credentials")], do: [.push("code")]),
                    Flow.Transition(on: "event.CodeSent", when: [.path("credentials")], do: [.push("done")]),
                    Flow.Transition(on: "event.Restarted", do: [.popToRoot]),
                    Flow.Transition(on: "event.Skipped", do: [.replacePath(["done"])]),
                    Flow.Transition(on: "event.Sheet", do: [.present("code", as: .sheet)]),
                    Flow.Transition(on: "event.SignedUp", do: [.finish()]),
                    Flow.Transition(on: "event.Inner", do: [.pushFlow("inner")]),
                    Flow.Transition(on: "command.Next", do: [.push("code")]),
                ])
            Flow.Child(
                "inner", start: "help",
                transitions: [Flow.Transition(on: "event.InnerDone", do: [.finish()])])
            Flow.Transition(on: "event.Begin", do: root + [begin])
            Flow.Transition(on: "event.Tab", do: [.selectTab("code")])
            Flow.Transition(on: "event.Alert", do: [.present("help", as: .alert, options: Self.question)])
            Flow.Transition(on: "event.Help", do: [.present("help", as: .sheet)])
            Flow.Transition(on: "event.HelpPushed", do: [.push("help")])
            Flow.Transition(on: "event.Window", do: [.present("help", as: .window)])
            Flow.Transition(on: "flow.finished", when: [.top("welcome")], do: [.setRoot("done")])
            Flow.Transition(on: "flow.finished", do: [.push("welcome")])
            // The checker requires that some rule declares this tab.
            Flow.Transition(on: "event.Never", do: [.setRoot("home", container: .tabs(["home", "code"]))])
        }
        var session = Session(flow)
        #expect(session.send("event.Begin").failureCodes.isEmpty)
        return session
    }

    @Test("A run beneath an alert receives events and ends, and the alert stays until it is answered")
    func beneathAlert() throws {
        var session = try session()
        session.send("event.Alert")
        session.send("event.CodeSent")
        #expect(session.path == ["credentials", "code"])
        #expect(session.send("event.SignedUp").failureCodes.isEmpty)
        #expect(session.path == ["welcome"] && session.presented == ["help"])
        session.report("AlertAnswered", session.state.top.id, ["button": "ok"])
        #expect(session.presented.isEmpty && session.state.runs.isEmpty)
    }

    @Test("A presented run can end beneath an alert")
    func presentedBeneathAlert() throws {
        var session = try session(begin: .presentFlow("signUp", as: .sheet))
        session.send("event.Alert")
        session.send("event.CodeSent")
        #expect(session.state.presentations.first?.path.map(\.screen) == ["code"])
        #expect(session.send("event.SignedUp").dismissals == ["code-5", "credentials-2"])
        #expect(session.path == ["welcome"] && session.presented == ["help"])
    }

    @Test("A run beneath a screen of the flow opens its screens above that, and closes all of them when it ends")
    func beneathPushed() throws {
        var session = try session()
        session.send("event.HelpPushed")
        session.send("event.CodeSent")
        #expect(session.path == ["credentials", "help", "done"])
        session.send("event.SignedUp")
        #expect(session.path == ["welcome"])
    }

    @Test("A run beneath a sheet changes its own path, and a run with its own sheet continues there")
    func beneathSheet() throws {
        var session = try session()
        session.send("event.CodeSent")
        session.send("event.Help")
        session.send("event.Restarted")
        #expect(session.path == ["credentials"] && session.presented == ["help"])
        session.send("event.Skipped")
        #expect(session.path == ["credentials", "done"])
        var own = try self.session()
        own.send("event.Sheet")
        own.send("command.Next", platform: "mac", instance: "credentials-2")
        #expect(own.state.presentations.first?.path.map(\.screen) == ["code"])
    }

    @Test("A run in another tab continues there, and so does the flow after its end")
    func otherTab() throws {
        var session = try session(root: [.setRoot("home", container: .tabs(["home", "code"]))])
        session.send("event.Tab")
        session.send("event.CodeSent")
        #expect(session.paths == ["home": ["credentials", "code"], "code": []])
        session.send("event.SignedUp")
        #expect(session.paths == ["home": ["welcome"], "code": []])
        #expect(session.state.root.container?.selectedTab == "code")
    }

    @Test("A run in a column continues there, and so does the flow after its end")
    func column() throws {
        var session = try session(
            root: [.setRoot("home", container: .split), .show("home", column: "detail")],
            begin: .pushFlow("signUp", column: "detail"))
        session.send("command.Next", platform: "mac", instance: "credentials-4")
        #expect(session.paths == ["detail": ["credentials", "code"]])
        session.send("event.SignedUp")
        #expect(session.paths == ["detail": ["welcome"]])
        #expect(session.path.isEmpty)
    }

    @Test("A run continues in its own window, and in the main one")
    func windows() throws {
        var main = try session()
        main.send("event.Window")
        main.send("event.CodeSent")
        #expect(main.path == ["credentials", "code"])
        main.send("event.SignedUp")
        #expect(main.path == ["welcome"] && main.presented == ["help"])
        var own = try session(begin: .presentFlow("signUp", as: .window))
        own.send("event.Window")
        own.send("event.CodeSent")
        #expect(own.state.presentations.first?.path.map(\.screen) == ["code"])
    }

    @Test("An event goes to the run in front of two runs of a flow, and to the inner one of nested runs")
    func order() throws {
        var session = try session()
        session.send("event.Inner")
        session.send("event.Help")
        #expect(session.send("event.InnerDone").dismissals == ["help-6", "help-4"])
        #expect(session.path == ["credentials", "welcome"])
        var twice = try self.session()
        twice.send("event.Help")
        twice.send("event.Begin")
        #expect(twice.state.runs.map(\.id) == ["signUp-3", "signUp-6"])
        twice.send("event.CodeSent")
        #expect(twice.path == ["credentials"])
        #expect(twice.state.presentations.first?.path.map(\.screen) == ["credentials", "code"])
    }

    @Test("A guard of a run that is not in front depends on the run's screen, not on the screen that covers it")
    func attempt() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "b",
                transitions: [
                    Flow.Transition(
                        on: "event.Save", guard: Flow.Guard(accept: "event.Saved", deadline: .seconds(5)),
                        do: [.push("c")])
                ])
            Flow.Transition(on: "event.Begin", do: [.pushFlow("child"), .present("c", as: .sheet)])
        }
        var session = Session(flow)
        session.send("event.Begin")
        session.send("event.Save")
        #expect(session.state.attempt?.instance == "b-2")
        session.report("PresentationDismissed", "c-4")
        session.send("event.Saved", causedBy: "m2")
        #expect(session.path == ["b", "c"])
    }

    @Test("After the end of a run, a step continues where it has opened or selected something")
    func afterEnd() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "b",
                transitions: [Flow.Transition(on: "event.End", do: [.finish(result: ["n": "${data.n}"])])])
            Flow.Transition(
                on: "event.Begin", do: [.setRoot("a", container: .tabs(["a", "b"])), .pushFlow("child")])
            Flow.Transition(
                on: "flow.finished", where: ["result.n": 1], do: [.present("c", as: .sheet), .push("b")])
            Flow.Transition(on: "flow.finished", where: ["result.n": 2], do: [.selectTab("b"), .push("c")])
            Flow.Transition(on: "flow.finished", where: ["result.n": 3], do: [.setRoot("c"), .push("b")])
        }
        var sheet = Session(flow)
        sheet.send("event.Begin")
        var tab = sheet
        var root = sheet
        sheet.send("event.End", ["n": 1])
        #expect(sheet.state.presentations.first?.path.map(\.screen) == ["b"])
        tab.send("event.End", ["n": 2])
        #expect(tab.paths == ["a": [], "b": ["c"]])
        root.send("event.End", ["n": 3])
        #expect(root.path == ["b"])
    }
}

extension Session {
    /// The screens on the paths of tabs and columns, by name.
    fileprivate var paths: [String: [String]] {
        switch state.root.container {
        case .split(let columns): columns.mapValues { $0.path.map(\.screen) }
        case .tabs(let tabs, _):
            Dictionary(tabs.map { ($0.name, $0.stack.path.map(\.screen)) }) { first, _ in first }
        case nil: [:]
        }
    }
}
