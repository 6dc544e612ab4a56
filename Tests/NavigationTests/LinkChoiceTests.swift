import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Parked deep links and the user's later choices")
struct LinkChoiceTests {
    /// A shop whose links wait for the list and for the dismissal of sheets.
    private static func flow() throws -> Flow {
        let item = Flow.Destination.screen("item", ["id": "${data.id}"])
        return try Flow("shop", version: 1, platform: "ios", start: "launch") {
            for name in ["launch", "list", "item", "settings", "sorry", "left", "right"] { Flow.Screen(name) }
            Flow.Screen("terms", gate: true)
            Flow.Transition(on: "command.SignInRequested", do: [.setRoot("list")])
            Flow.Transition(on: "command.OfferChosen", do: [.setRoot("list"), .push(item)])
            Flow.Transition(on: "event.LaunchFinished", do: [.setRoot("list")])
            Flow.Transition(on: "event.SettingsNeeded", do: [.present("settings", as: .sheet)])
            Flow.Transition(on: "event.TermsChanged", do: [.present("terms", as: .fullScreen)])
            Flow.Transition(on: "command.TermsAccepted", do: [.dismiss("terms")])
            Flow.Transition(on: "command.ItemChosen", do: [.dismissAll, .push(item)])
            Flow.Transition(on: "event.ItemRecommended", do: [.dismissAll, .push(item)])
            Flow.Transition(on: "command.ItemOrdered", guard: order, do: [.dismissAll, .push(item)])
            Flow.Transition(on: "command.SaveRequested", guard: saving, do: [.send(type: "command.Count")])
            Flow.Transition(on: "event.SignedOut", do: [.setRoot("launch")])
            Flow.Transition(
                on: "command.TabsOpened", do: [.setRoot("list", container: tabs), .present("settings", as: .sheet)])
            Flow.Transition(on: "command.RightChosen", do: [.dismissAll, .selectTab("right")])
            Flow.Link(
                "shop://item/{id}", when: [.root("list")],
                to: .init(root: "list", path: [.screen("item", ["id": "${url.id}"])]), over: [.sheet: .wait])
            Flow.Link(
                "shop://left", when: [.root("list")], to: .init(root: .init("list", container: tabs), tab: "left"),
                over: [.sheet: .wait])
        }
    }

    private static let tabs = Flow.Layout.tabs(["left", "right"])

    private static let order = Flow.Guard(
        accept: "event.OrderTaken", reject: "event.OrderRefused", deadline: .seconds(5), meanwhile: .queue,
        rejected: [.dismissAll, .push("sorry")])

    private static let saving = Flow.Guard(accept: "event.Saved", deadline: .seconds(5), meanwhile: .queue)

    /// A session in which the settings are presented over the list.
    private static func settings() throws -> Session {
        var session = Session(try flow())
        session.send("event.LaunchFinished")
        session.send("event.SettingsNeeded")
        return session
    }

    @Test("A parked link that would close a screen of a newer command is discarded with a report")
    func chosen() throws {
        var session = try Self.settings()
        session.open("shop://item/7")
        let effects = session.send("command.ItemChosen", ["id": "9"])
        #expect(effects.discards == ["event.DeepLinkReceived: the user has since chosen another screen or tab"])
        #expect(effects.discarded == ["m3"])
        #expect(session.machine.snapshot.url == "shop://item/9")
        #expect(session.state.parked == nil)
    }

    @Test("A choice of the screen that the link opens does not discard the link")
    func same() throws {
        var session = try Self.settings()
        session.open("shop://item/9")
        #expect(session.send("command.ItemChosen", ["id": "9"]).discarded.isEmpty)
        #expect(session.machine.snapshot.url == "shop://item/9")
        #expect(session.state.parked == nil)
    }

    @Test("A screen that an event opens is not a choice, and neither is a dismissal")
    func admitted() throws {
        var recommended = try Self.settings()
        recommended.open("shop://item/7")
        #expect(recommended.send("event.ItemRecommended", ["id": "9"]).discarded.isEmpty)
        #expect(recommended.machine.snapshot.url == "shop://item/7")

        var accepted = Session(try Self.flow())
        accepted.send("event.LaunchFinished")
        accepted.send("event.TermsChanged")
        accepted.open("shop://item/7")
        accepted.send("command.TermsAccepted")
        #expect(accepted.machine.snapshot.url == "shop://item/7")
    }

    @Test("A new root admits the link, and a screen that is opened on it in the same step is a choice")
    func root() throws {
        var session = Session(try Self.flow())
        session.open("shop://item/7")
        session.send("command.SignInRequested")
        #expect(session.machine.snapshot.url == "shop://item/7")

        var guest = Session(try Self.flow())
        guest.open("shop://item/7")
        #expect(guest.send("command.OfferChosen", ["id": "9"]).discarded == ["m1"])
        #expect(guest.machine.snapshot.url == "shop://item/9")
    }

    @Test("A tab that the user has selected stays selected")
    func tab() throws {
        var session = Session(try Self.flow())
        session.send("command.TabsOpened")
        session.open("shop://left")
        #expect(session.send("command.RightChosen").discarded == ["m2"])
        #expect(session.state.root.container?.selectedTab == "right")
    }

    @Test("A choice has the time of its command, however long its guard has waited")
    func guarded() throws {
        for (answer, path) in [("event.OrderTaken", "item"), ("event.OrderRefused", "sorry")] {
            var newer = try Self.settings()
            newer.open("shop://item/7")
            newer.send("command.ItemOrdered", ["id": "9"])
            #expect(newer.send(answer, causedBy: "m4").discarded == ["m3"])
            #expect(newer.path == [path])
            #expect(newer.machine.snapshot.url == (path == "item" ? "shop://item/9" : nil))

            var older = try Self.settings()
            older.send("command.ItemOrdered", ["id": "9"])
            older.open("shop://item/7")
            #expect(older.send(answer, causedBy: "m3").discarded.isEmpty)
            #expect(older.machine.snapshot.url == "shop://item/7")
        }
    }

    @Test("A queued command has the time of its arrival, also after a restart", arguments: [true, false])
    func heldBack(isOlder: Bool) throws {
        var session = try Self.settings()
        session.send("command.SaveRequested")
        if isOlder { session.send("command.ItemChosen", ["id": "9"]) }
        session.open("shop://item/7")
        if !isOlder { session.send("command.ItemChosen", ["id": "9"]) }
        let stored = try JSONEncoder().encode(session.machine.snapshot)
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: stored)
        var restored = Restoration(snapshot, flow: session.machine.flow).machine
        #expect(restored == session.machine)
        let saved = Machine.Input(id: "s", type: "event.Saved", attributes: Machine.Attributes(causationID: "m3"))
        #expect(restored.handle(saved).discarded == (isOlder ? [] : ["m4"]))
        #expect(restored.snapshot.url == (isOlder ? "shop://item/7" : "shop://item/9"))
    }

    /// A random message for the shop.
    private static func message(_ number: Int, _ state: NavigationState, _ random: inout SeededGenerator)
        -> Machine.Input
    {
        let id: JSONValue = ["id": .string(["7", "8", "9"].randomElement(using: &random) ?? "")]
        let top: JSONValue = ["instance": .string(state.top.id), "tab": "left"]
        let link: JSONValue = [
            "url": .string(["shop://item/7", "shop://item/8", "shop://left"].randomElement(using: &random) ?? "")
        ]
        let messages: [(String, JSONValue)] = [
            ("command.SignInRequested", [:]), ("command.OfferChosen", id), ("event.LaunchFinished", [:]),
            ("event.SettingsNeeded", [:]), ("event.TermsChanged", [:]), ("command.TermsAccepted", [:]),
            ("command.ItemChosen", id), ("event.ItemRecommended", id), ("command.TabsOpened", [:]),
            ("command.RightChosen", [:]), ("event.SignedOut", [:]), ("command.BackCompleted", top),
            ("command.PresentationDismissed", top), ("command.TabSelected", top), (Machine.deepLinkReceived, link),
            (Machine.deepLinkReceived, link), (Machine.deepLinkReceived, link),
        ]
        let (type, data) = messages.randomElement(using: &random) ?? ("", [:])
        return Machine.Input(id: "m\(number)", type: type, data: data)
    }

    @Test("No parked link closes a screen that a newer command has opened, in random histories")
    func anyHistory() throws {
        var (followed, lost) = (0, 0)
        for seed in 0..<40 as Range<UInt64> {
            var machine = Machine(flow: try Self.flow())
            var random = SeededGenerator(seed: seed)
            for number in 0..<120 {
                let before = machine
                let input = Self.message(number, before.state, &random)
                let effects = machine.handle(input)
                guard let parked = before.state.parked, machine.state.parked == nil, input.type.hasPrefix("command.")
                else { continue }
                // The same step in a machine without the link.
                var snapshot = before.snapshot
                snapshot.state.parked = nil
                var free = Restoration(snapshot, flow: machine.flow).machine
                _ = free.handle(input)
                if effects.discarded.contains(parked.messageID) {
                    #expect(machine.state == free.state)
                    lost += 1
                } else {
                    let isNewRoot = free.state.root.instance.id != before.state.root.instance.id
                    let choices =
                        isNewRoot ? free.state.path + free.state.presentations.map(\.instance) : free.state.open
                    for choice in choices where !before.state.isOpen(choice.id) {
                        #expect(machine.state.isOpen(choice.id), "\(input.type) opened \(choice)")
                    }
                    followed += 1
                }
            }
        }
        #expect(followed > 20 && lost > 20, "\(followed) were followed, \(lost) lost")
    }
}
