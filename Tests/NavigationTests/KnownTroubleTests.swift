import Navigation
import SampleFlows
import Support
import Testing

/// Problems that users of other navigation libraries often report.
@Suite("Known problems of navigation libraries")
struct KnownTroubleTests {
    @Test("A pop of a screen that is not open changes nothing, and is discarded with a report")
    func unknownInstance() throws {
        var session = Session(try TroubleFlow.flow())
        session.send("event.ItemOpened", ["id": 1])
        let before = session.machine
        #expect(
            session.report("BackCompleted", "item-9").discards == [
                "command.BackCompleted: screen instance 'item-9' was dismissed or never existed"
            ])
        let toNowhere = session.send("command.NavigationRequested", ["action": ["pop": "settings"]], platform: "ios")
        #expect(toNowhere.discarded == ["m3"])
        session.report("BackCompleted", "item-2")
        let empty = session.send("command.NavigationRequested", ["action": "pop"], platform: "ios")
        #expect(empty.discards == ["command.NavigationRequested: there is nothing to pop on the path"])
        #expect(before.state.path.map(\.id) == ["item-2"])
        #expect(session.path.isEmpty)
    }

    @Test("A sheet beneath a cancelled swipe back can still be dismissed")
    func cancelledSwipe() throws {
        var session = Session(try TroubleFlow.flow())
        session.send("event.SheetOpened")
        session.send("event.ItemOpened", ["id": 1])
        #expect(session.report("BackStarted", "item-3").isEmpty)
        #expect(session.report("BackCancelled", "item-3").isEmpty)
        #expect(
            session.send("command.DoneTapped", platform: "ios", instance: "item-3").dismissals == ["item-3", "sheet-2"])
        #expect(session.presented.isEmpty)
        #expect(session.leaving == ["item-3", "sheet-2"])
    }

    @Test("Tabs that are selected fast, and reported twice, keep their stacks")
    func fastTabs() throws {
        var session = Session(try TroubleFlow.flow())
        session.send("event.TabsShown")
        session.send("event.ItemOpened", ["id": 1])
        let root = session.state.root.instance.id
        for tab in ["search", "feed", "search", "search", "feed", "search"] {
            #expect(session.report("TabSelected", root, ["tab": .string(tab)]).isEmpty)
        }
        session.send("event.ItemOpened", ["id": 2])
        session.report("TabSelected", root, ["tab": "feed"])
        guard case .tabs(let tabs, let selected) = session.state.root.container else {
            Issue.record("there are no tabs")
            return
        }
        #expect(selected == "feed")
        #expect(tabs.map { $0.stack.path.map(\.arguments) } == [[["id": 1]], [["id": 2]]])
    }

    @Test("An alert that was answered is not shown again, and the next one is shown")
    func answeredAlert() throws {
        var session = Session(try TroubleFlow.flow())
        session.send("event.QuestionAsked")
        session.report("AlertAnswered", "question-2", ["button": "yes"])
        #expect(session.presented.isEmpty)
        #expect(session.report("AlertAnswered", "question-2", ["button": "yes"]).isEmpty)
        session.send("event.QuestionAsked")
        #expect(session.state.presentations.map(\.instance.id) == ["question-3"])
    }

    /// A session in which the first item is loading and a second item is pushed on it.
    private func loading() throws -> Session {
        var session = Session(try TroubleFlow.flow())
        session.send("event.ItemOpened", ["id": 1])
        session.send("command.LoadRequested", platform: "ios", instance: "item-2")
        session.send("event.ItemOpened", ["id": 2])
        return session
    }

    @Test("A dismissed screen ends its own attempt, and not that of the screen beneath it")
    func siblings() throws {
        var session = try loading()
        #expect(session.report("BackCompleted", "item-3").dismissals == ["item-3"])
        #expect(session.state.attempt?.instance == "item-2")
        session.send("event.Loaded", ["title": "One"], causedBy: "m2.ios.ask")
        #expect(session.presented == ["sheet"])
        #expect(session.state.top.arguments == ["title": "One"])

        var abandoned = try loading()
        #expect(abandoned.report("BackCompleted", "item-2").discarded == ["m2"])
        #expect(abandoned.send("event.Loaded", ["title": "One"], causedBy: "m2.ios.ask").discarded == ["m5"])
        #expect(abandoned.presented.isEmpty)
    }

    @Test("The result of a screen's work reaches it while another screen covers it")
    func workInFlight() throws {
        var session = try loading()
        let effects = session.send("event.Loaded", ["title": "One"], causedBy: "m2.ios.ask")
        #expect(effects.discards.isEmpty)
        #expect(session.state.top.arguments == ["title": "One"])
        #expect(session.path == ["item", "item"])
    }

    @Test("A restored presentation is dismissed by a screen in it")
    func restoredPresentation() throws {
        var session = Session(try TroubleFlow.flow())
        session.send("event.SheetOpened")
        session.send("event.ItemOpened", ["id": 1])
        var machine = Restoration(session.machine.snapshot, flow: try TroubleFlow.flow()).machine
        let child = Machine.Attributes(platform: "ios", instance: "item-3")
        let effects = machine.handle(Machine.Input(id: "done", type: "command.DoneTapped", attributes: child))
        #expect(effects.dismissals == ["item-3", "sheet-2"])
        #expect(machine.state.presentations.isEmpty)
    }
}

/// A flow with one example of each problem.
private enum TroubleFlow {
    static func flow() throws -> Flow {
        try Flow("trouble", version: 1, platform: "ios", start: "home", requests: [.pop]) {
            for screen in ["home", "tabs", "feed", "search", "settings", "question"] { Flow.Screen(screen) }
            Flow.Screen("item", sends: ["command.LoadRequested", "command.DoneTapped"])
            Flow.Screen("sheet", sends: ["command.DoneTapped"])
            Flow.Transition(
                on: "event.TabsShown",
                do: [.setRoot("tabs", container: .tabs([Flow.Tab("feed"), Flow.Tab("search")]))])
            Flow.Transition(on: "event.ItemOpened", do: [.push(.screen("item", ["id": "${data.id}"]))])
            Flow.Transition(on: "event.SheetOpened", do: [.present("sheet", as: .sheet)])
            Flow.Transition(on: "event.QuestionAsked", do: [.present("question", as: .alert, options: options)])
            Flow.Transition(on: "command.DoneTapped", when: [.presented("sheet")], do: [.dismiss("sheet")])
            Flow.Transition(
                on: "command.LoadRequested",
                guard: Flow.Guard(ask: "command.Load", accept: "event.Loaded", deadline: .seconds(5)),
                do: [.present(.screen("sheet", ["title": "${answer.title}"]), as: .sheet)])
        }
    }

    private static let options = PresentationOptions(
        title: "Sure?", buttons: [AlertButton(id: "yes", title: "Yes"), AlertButton(id: "no", title: "No")])
}
