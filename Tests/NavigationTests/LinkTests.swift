import Navigation
import SampleFlows
import Support
import Testing

@Suite("Deep links")
struct LinkTests {
    @Test("A link opens its whole path in one step, and sends its command to load the data")
    func followed() throws {
        var session = try Session.shop()
        let effects = session.open("shop://item/7?colour=red")
        #expect(effects == [.send(type: "command.LoadItem", data: ["itemID": "7", "quiet": true])])
        #expect(session.state.path.map(\.arguments) == [["itemID": "7", "colour": "red"]])
        #expect(session.machine.revision == 3)
        #expect(session.machine.snapshot.url == "shop://item/7?colour=red")
        #expect(session.state.parked == nil)
    }

    @Test("An identifier in a URL is decoded, and is never read as a template or a path")
    func encoded() throws {
        var session = try Session.shop()
        session.open("SHOP://Item/%24%7Bdata.url%7D%2F%C3%BC")
        #expect(session.state.top.arguments == ["itemID": "${data.url}/ü"])
        #expect(session.machine.snapshot.url == "shop://item/%24%7Bdata.url%7D%2F%C3%BC")
    }

    @Test("A swipe back from a screen of a link leads along the link's path")
    func back() throws {
        var session = try Session.shop()
        session.open("shop://item/7/review/2")
        #expect(session.path == ["item", "review"])
        session.report("BackCompleted", session.state.top.id)
        #expect(session.path == ["item"])
        #expect(session.machine.snapshot.url == "shop://item/7")
        session.report("BackCompleted", session.state.top.id)
        #expect(session.machine.snapshot.url == "shop://list")
    }

    @Test("A screen that a link presented is dismissed like any other", arguments: [true, false])
    func dismissedChild(byUser: Bool) throws {
        var session = try Session.shop()
        session.open("shop://settings")
        #expect(session.presented == ["settings"])
        let settings = session.state.top.id
        let effects =
            byUser ? session.report("PresentationDismissed", settings) : session.open("shop://list")
        #expect(effects.dismissals == [settings])
        #expect(session.state.open.map(\.screen) == ["list"])
    }

    @Test("Screens that are already open stay, and only those that differ are new")
    func leastChange() throws {
        var session = try Session.shop()
        session.open("shop://item/7")
        let item = session.state.top.id
        #expect(session.open("shop://item/7/review/2").isEmpty)
        #expect(session.state.path.map(\.id) == [item, "review-4"])
        #expect(session.open("shop://item/7/review/3").dismissals == ["review-4"])
        #expect(session.state.path.map(\.id) == [item, "review-5"])
        let back = session.open("shop://item/7")
        #expect(back.dismissals == ["review-5"])
        #expect(session.state.path.map(\.id) == [item])
        #expect(session.open("shop://item/8").dismissals == [item])
        #expect(session.root == "list")
    }

    @Test("A link to the current state changes only the values of the query")
    func alreadyThere() throws {
        var session = try Session.shop()
        session.open("shop://item/7?colour=red")
        let there = session.machine
        #expect(session.open("shop://item/7?colour=red&utm=x#top").isEmpty)
        #expect(session.machine == there)
        #expect(session.open("shop://item/7?colour=blue").sent == ["command.LoadItem"])
        #expect(
            session.state.top
                == ScreenInstance(screen: "item", id: "item-3", arguments: ["itemID": "7", "colour": "blue"]))
        session.open("shop://item/7")
        #expect(session.state.top == ScreenInstance(screen: "item", id: "item-3", arguments: ["itemID": "7"]))
        #expect(session.leaving == [])
    }

    @Test("A link finds a screen that a rule has opened", arguments: ["7", 7] as [JSONValue])
    func openedByRule(itemID: JSONValue) throws {
        var session = try Session.shop()
        session.send("command.ItemSelected", ["itemID": itemID])
        let there = session.machine
        #expect(there.snapshot.url == "shop://item/7")
        #expect(session.open("shop://item/7").isEmpty)
        #expect(session.machine == there)
    }

    @Test("An unknown URL is discarded with a suggestion, and changes nothing")
    func unknown() throws {
        var session = try Session.shop()
        let before = session.machine
        #expect(
            session.open("shop://setings").discards == [
                "event.DeepLinkReceived: no link matches the URL 'shop://setings'; did you mean 'shop://settings'?"
            ])
        #expect(
            session.open("shop://itm/73829/").discards.first?.hasSuffix("'shop://item/{id}?colour={colour}'?") == true)
        for url in ["", "item/7", "shop://item/7/8/9", "shop://item/%FF", "http://example.org"] {
            #expect(session.open(url).discards.count == 1)
        }
        let missing = session.send("event.DeepLinkReceived", ["uri": "shop://list"])
        #expect(missing.discards == ["event.DeepLinkReceived: the field 'url' is missing"])
        #expect(session.machine == before)
    }

    @Test("A link for another platform's device is ignored")
    func otherPlatform() throws {
        var session = try Session.shop()
        let before = session.machine
        #expect(session.open("shop://item/7", platform: "mac").isEmpty)
        #expect(session.open("shop://nothing", platform: "mac").isEmpty)
        #expect(session.machine == before)
    }

    @Test("A flow without links leaves deep links to its rules")
    func withoutLinks() throws {
        let flow = try Flow("plain", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(on: "event.DeepLinkReceived", do: [.push("a")])
        }
        var session = Session(flow)
        session.open("any:thing")
        #expect(session.path == ["a"])
        #expect(session.machine.snapshot.url == nil)
        #expect(try LinkFlow.flow().messageTypes.contains("event.DeepLinkReceived"))
    }
}
