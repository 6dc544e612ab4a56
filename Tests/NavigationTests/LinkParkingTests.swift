import Navigation
import SampleFlows
import Support
import Testing

@Suite("Parked deep links")
struct LinkParkingTests {
    @Test(
        "A link that cannot be followed yet is parked, and is followed in the step that admits it",
        arguments: ["ios", "mac"])
    func beforeAuthorisation(platform: String) throws {
        var session = try Session(platform)
        session.open("focus://playlist/p1")
        session.send("event.LaunchFinished")
        #expect(session.root == "serviceSelection")
        #expect(session.state.parked?.url == "focus://playlist/p1")
        #expect(session.machine.snapshot.url == nil)
        let effects = session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        #expect(effects.sent == ["command.PlaylistSelected"])
        #expect(session.state.open.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
        #expect(session.state.open.last?.arguments == ["playlistID": "p1"])
        #expect(session.state.parked == nil)
        #expect(session.machine.revision == 3)
        #expect(session.machine.cause == "m3")
        #expect(session.machine.snapshot.url == "focus://playlist/p1")
        // The command that the link sends to load the songs changes no state, even if it arrives twice.
        let followed = session.machine
        session.send("command.PlaylistSelected", ["playlistID": "p1"])
        #expect(session.machine == followed)
    }

    @Test("A parked link that has expired is discarded by the next message of any type")
    func expired() throws {
        var session = Session(try LinkFlow.flow(park: .seconds(5)))
        session.open("shop://item/7", at: 1000)
        #expect(session.send("event.Unheard", time: 5999).isEmpty)
        #expect(session.state.parked != nil)
        let unheard = session.send("event.Unheard", time: 6000)
        #expect(unheard.discarded == ["m1"])
        #expect(session.state.parked == nil)
        #expect(session.machine.revision == 2)

        session.open("shop://item/7", at: 10_000)
        let admitting = session.send("event.LaunchFinished", time: 15_000)
        #expect(admitting.discarded == ["m4"])
        #expect(session.state.open.map(\.screen) == ["list"])
        #expect(session.machine.revision == 4)
    }

    @Test("A link with a parking time of zero is followed at once or discarded")
    func notParked() throws {
        var session = Session(try LinkFlow.flow(park: .zero))
        let before = session.machine
        let effects = session.open("shop://item/7")
        #expect(
            effects.discards == ["event.DeepLinkReceived: the link cannot be followed now: its conditions do not hold"]
        )
        #expect(session.machine == before)
    }

    @Test("A newer parked link replaces the earlier one, which is discarded with a report")
    func superseded() throws {
        var session = Session(try LinkFlow.flow())
        session.open("shop://item/7")
        #expect(session.open("shop://item/8/review/1").discarded == ["m1"])
        // A link with an unknown URL does not replace the parked link.
        #expect(session.open("shop://nothing").discarded == ["m3"])
        session.send("event.LaunchFinished")
        #expect(session.machine.snapshot.url == "shop://item/8/review/1")
    }

    @Test("A link that is followed at once replaces a parked one")
    func supersededByFollowed() throws {
        var session = try Session.shop(over: [.sheet: .wait])
        session.send("event.SheetNeeded")
        session.open("shop://item/7")
        let effects = session.open("shop://list")
        #expect(effects.discarded == ["m4"])
        #expect(session.state.open.map(\.screen) == ["list"])
        #expect(session.state.parked == nil)
    }

    @Test("The same message counts once, and a new message with the same link is parked again")
    func twice() throws {
        var machine = Machine(flow: try LinkFlow.flow())
        func input(_ id: String, at time: Int) -> Machine.Input {
            Machine.Input(
                id: id, type: "event.DeepLinkReceived", data: ["url": "shop://item/7"],
                attributes: Machine.Attributes(time: time))
        }
        _ = machine.handle(input("m1", at: 0))
        let once = machine
        #expect(machine.handle(input("m1", at: 10)).isEmpty)
        #expect(machine == once)
        #expect(machine.handle(input("m2", at: 20)).discarded == ["m1"])
        #expect(machine.state.parked?.expires == 600_020)
        _ = machine.handle(Machine.Input(id: "m3", type: "event.LaunchFinished"))
        let followed = machine
        #expect(machine.handle(input("m2", at: 30)).isEmpty)
        #expect(machine == followed)
    }

    @Test("A link with an extreme time is parked or discarded without a trap", arguments: [Int.max, Int.min])
    func absurdTime(time: Int) throws {
        var session = Session(try LinkFlow.flow())
        let effects = session.open("shop://item/7", at: time)
        #expect((session.state.parked == nil) == (effects.discarded == ["m1"]))
        // The snapshot has no number that is refused when it is read again.
        let snapshot = session.machine.snapshot
        #expect(try JSONValue(encoding: snapshot).decode(NavigationSnapshot.self) == snapshot)
    }

    @Test("A parked link is restored with its session, and discarded if the changed flow lacks it")
    func restored() throws {
        var session = Session(try LinkFlow.flow())
        session.open("shop://item/7")
        let same = Restoration(session.machine.snapshot, flow: session.machine.flow)
        #expect(same.machine == session.machine)

        let elsewhere = Restoration(session.machine.snapshot, flow: try LinkFlow.flow(platform: "web"))
        #expect(elsewhere.machine.state.parked == nil)
        #expect(elsewhere.effects.discarded == ["m1"])

        let without = Restoration(session.machine.snapshot, flow: try LinkFlow.flow(hasItems: false))
        #expect(without.machine.state.parked == nil)
        #expect(without.effects.discarded == ["m1"])
        #expect(without.machine.revision == session.machine.revision + 1)
    }
}

@Suite("Deep links over presentations")
struct LinkPrecedenceTests {
    @Test("A link replaces a sheet or a popover, and never opens behind it", arguments: ["Sheet", "Popover"])
    func overSheet(kind: String) throws {
        var session = try Session.shop()
        session.send("event.\(kind)Needed")
        session.send("event.SheetNeeded")
        let effects = session.open("shop://item/7")
        #expect(effects.dismissals == ["settings-4", "settings-3"])
        #expect(session.path == ["item"])
        #expect(session.presented == [])
    }

    @Test("A presentation of the link stays if it is open, and all above it closes")
    func overItself() throws {
        var session = try Session.shop()
        session.send("event.SheetNeeded")
        session.send("event.PopoverNeeded")
        session.send("command.ItemSelected", ["itemID": "7"])
        #expect(session.open("shop://settings").dismissals == ["item-5", "settings-4"])
        #expect(session.state.open.map(\.id) == ["list-2", "settings-3"])
        session.send("command.ItemSelected", ["itemID": "7"])
        #expect(session.open("shop://settings").dismissals == ["item-6"])
        session.open("shop://item/7")
        session.send("event.SheetNeeded")
        // Over another screen, the sheet is a new instance.
        #expect(session.open("shop://settings").dismissals == ["settings-8", "item-7"])
        #expect(session.state.open.map(\.id) == ["list-2", "settings-9"])
    }

    @Test("A link waits until an alert is answered")
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

    @Test("The flow decides what a link does to each style of presentation", arguments: Flow.Precedence.allCases)
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

    @Test("A link waits until a mandatory screen is closed, whatever the flow allows")
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
