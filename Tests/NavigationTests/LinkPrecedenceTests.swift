import Navigation
import Testing

@Suite("Deep links over what is presented")
struct LinkPrecedenceTests {
    @Test("Over a sheet or a popover the link opens in its place, never behind it", arguments: ["Sheet", "Popover"])
    func overSheet(kind: String) throws {
        var session = try Session.shop()
        session.send("event.\(kind)Needed")
        session.send("event.SheetNeeded")
        let effects = session.open("shop://item/7")
        #expect(effects.dismissals == ["settings-4", "settings-3"])
        #expect(session.path == ["item"])
        #expect(session.presented == [])
    }

    @Test("What the link itself presents stays when it is there, without what lies over it")
    func overItself() throws {
        var session = try Session.shop()
        session.send("event.SheetNeeded")
        session.send("event.PopoverNeeded")
        session.send("command.ItemSelected", ["itemID": "7"])
        #expect(session.open("shop://settings").dismissals == ["item-5", "settings-4"])
        #expect(session.state.standing.map(\.id) == ["list-2", "settings-3"])
        session.send("command.ItemSelected", ["itemID": "7"])
        #expect(session.open("shop://settings").dismissals == ["item-6"])
        session.open("shop://item/7")
        session.send("event.SheetNeeded")
        // Over another screen it is another sheet.
        #expect(session.open("shop://settings").dismissals == ["settings-8", "item-7"])
        #expect(session.state.standing.map(\.id) == ["list-2", "settings-9"])
    }

    @Test("Over an alert the link waits for its answer")
    func overAlert() throws {
        var session = try Session.shop()
        session.send("event.SheetNeeded")
        session.send("event.Asked")
        #expect(session.open("shop://item/7", at: 1000).isEmpty)
        #expect(session.presented == ["settings", "settings"])
        #expect(session.state.parked == ParkedLink(url: "shop://item/7", messageID: "m5", expires: 601_000))
        let revision = session.machine.revision
        session.report("AlertAnswered", session.state.top.id, ["button": "ok"])
        #expect(session.path == ["item"])
        #expect(session.presented == [])
        #expect(session.state.parked == nil)
        #expect(session.machine.revision == revision + 1)
    }

    @Test("A flow decides what a link does to presentations", arguments: Flow.Precedence.allCases)
    func precedence(_ precedence: Flow.Precedence) throws {
        for style in ["Sheet", "Popover"] {
            var session = try Session.shop(over: [.sheet: precedence, .popover: precedence])
            session.send("event.\(style)Needed")
            let before = session.machine
            let effects = session.open("shop://item/7")
            switch precedence {
            case .dismiss: #expect(session.path == ["item"])
            case .wait: #expect(session.state.parked != nil && session.presented == ["settings"])
            case .refuse:
                #expect(effects.discarded == ["m4"])
                #expect(session.machine == before)
            }
        }
    }

    @Test("Over a mandatory screen the link waits, whatever it may dismiss")
    func overGate() throws {
        var session = try Session.shop(over: [.fullScreen: .dismiss, .sheet: .dismiss])
        session.send("event.TermsChanged")
        session.send("event.SheetNeeded")
        #expect(session.open("shop://item/7").isEmpty)
        #expect(session.presented == ["terms", "settings"])
        session.report("PresentationDismissed", session.state.top.id)
        #expect(session.presented == ["terms"])
        session.send("event.TermsAccepted")
        #expect(session.path == ["item"])
        #expect(session.state.parked == nil)
    }
}
