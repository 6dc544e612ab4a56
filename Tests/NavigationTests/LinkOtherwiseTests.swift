import Navigation
import SampleFlows
import Support
import Testing

@Suite("Screens that a deep link opens while it waits")
struct LinkOtherwiseTests {
    private func session(
        _ otherwise: Flow.Link.Target = .init(root: .init(.screen("login", ["next": "${url.id}"]))),
        park: Duration = Flow.Link.usualPark, over: [PresentationStyle: Flow.Precedence] = [:]
    ) throws -> Session {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "welcome") {
            for name in ["welcome", "login", "list", "item", "note"] { Flow.Screen(name) }
            Flow.Screen("terms", gate: true)
            Flow.Transition(on: "command.LogIn", do: [.setRoot("list")])
            Flow.Transition(on: "command.LogInAndLook", do: [.setRoot("list"), .push("note")])
            Flow.Transition(on: "event.Note", do: [.present("note", as: .sheet)])
            Flow.Transition(on: "event.Terms", do: [.present("terms", as: .sheet)])
            Flow.Link(
                "shop://item/{id:integer}", when: [.root("list")],
                to: .init(root: "list", path: [.screen("item", ["id": "${url.id}"])]),
                otherwise: otherwise, send: [.init("command.Load", ["id": "${url.id}"])], park: park, over: over)
        }
        return Session(flow)
    }

    @Test("The screens are opened in the step that parks the link, which is followed after the log-in")
    func opened() throws {
        var session = try session()
        let effects = session.open("shop://item/7")
        #expect(effects.sent == [] && effects.dismissals == ["welcome-1"])
        #expect(session.state.root.instance.arguments == ["next": 7])
        #expect(session.state.parked?.url == "shop://item/7")
        #expect(session.machine.revision == 1)
        #expect(session.machine.rule == "links[0]")
        #expect(session.machine.snapshot.url == nil)
        let login = session.state.root.instance.id
        #expect(session.send("command.LogIn").sent == ["command.Load"])
        #expect(session.state.open.map(\.screen) == ["list", "item"])
        #expect(session.leaving.contains(login))
        #expect(session.state.parked == nil)
    }

    @Test("If the screens are open already, only the link is parked")
    func openAlready() throws {
        var session = try session()
        session.open("shop://item/7")
        let login = session.state.root
        #expect(session.open("shop://item/7").discarded == ["m1"])
        #expect(session.state.root == login)
        session.open("shop://item/8")
        #expect(session.state.root.instance.id != login.instance.id)
        #expect(session.state.parked?.url == "shop://item/8")
    }

    @Test("A screen that the user opens afterwards still counts as a newer choice")
    func newerChoice() throws {
        var session = try session()
        session.open("shop://item/7")
        #expect(session.send("command.LogInAndLook").discarded == ["m1"])
        #expect(session.state.open.map(\.screen) == ["list", "note"])
    }

    @Test("A link that does not wait opens the screens instead, and is not discarded")
    func instead() throws {
        var session = try session(park: .zero)
        #expect(session.open("shop://item/7").discards == [])
        #expect(session.root == "login" && session.state.parked == nil)
        let there = session.machine
        #expect(session.open("shop://item/7").isEmpty)
        #expect(session.machine == there)
        session.send("command.LogIn")
        #expect(session.state.open.map(\.screen) == ["list"])
    }

    @Test("The screens obey gates and the treatment of presentations", arguments: [true, false])
    func obstacles(waits: Bool) throws {
        let park = waits ? Flow.Link.usualPark : .zero
        var gated = try session(park: park)
        gated.send("event.Terms")
        let gate = gated.open("shop://item/7").discards
        #expect(gated.root == "welcome" && gated.presented == ["terms"])
        #expect((gated.state.parked != nil) == waits)
        #expect(waits ? gate == [] : gate[0].hasSuffix("screen 'terms' must be completed first"))

        var waiting = try session(park: park, over: [.sheet: .wait])
        waiting.send("event.Note")
        let reasons = waiting.open("shop://item/7").discards
        #expect(waiting.root == "welcome" && (waiting.state.parked != nil) == waits)
        #expect(waits ? reasons == [] : reasons[0].hasSuffix("a presentation must be dismissed first"))

        var refused = try session(park: park, over: [.sheet: .refuse])
        refused.send("event.Note")
        #expect(refused.open("shop://item/7").discards.count == 1)
        #expect(refused.root == "welcome" && refused.state.parked == nil)

        var dismissing = try session(.init(path: ["login"]), park: park)
        dismissing.send("event.Note")
        #expect(dismissing.open("shop://item/7").dismissals == ["note-2"])
        #expect(dismissing.state.open.map(\.screen) == ["welcome", "login"])
    }

    @Test("A link whose conditions hold once the screens are open is followed in the same step")
    func fulfils() throws {
        var session = try session(.init(root: "list"))
        #expect(session.open("shop://item/7").sent == ["command.Load"])
        #expect(session.state.open.map(\.screen) == ["list", "item"])
        #expect(session.machine.revision == 1)
    }
}
