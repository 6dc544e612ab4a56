import Foundation
import SampleFlows
import Support
import Testing

@testable import Navigation

@Suite("States that are too large")
struct StateSizeTests {
    private func session() throws -> Session {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list", requests: [.push]) {
            Flow.Screen("list", sends: ["command.ItemSelected"])
            Flow.Screen("item", sends: ["command.ItemSelected"])
            Flow.Transition(on: "command.ItemSelected", do: [.push(.screen("item", ["itemID": "${data.itemID}"]))])
            Flow.Transition(
                on: "event.Sheet", do: [.present(.screen("item", ["itemID": "${data.itemID}"]), as: .sheet)])
            Flow.Transition(on: "event.Root", do: [.setRoot(.screen("item", ["itemID": "${data.itemID}"]))])
            Flow.Transition(
                on: "event.Alert",
                do: [
                    .present(
                        "item", as: .alert,
                        options: PresentationOptions(
                            title: "${data.title}", buttons: [AlertButton(id: "ok", title: "OK")]))
                ])
            Flow.Transition(on: "event.Back", do: [.pop])
            Flow.Link("shop://item/{id}", to: .init(root: "list", path: [.screen("item", ["itemID": "${url.id}"])]))
        }
        return Session(flow)
    }

    /// An item whose arguments have this size in bytes of JSON.
    private func item(_ size: Int) -> JSONValue {
        ["itemID": .string(String(repeating: "x", count: size - #"{"itemID":""}"#.utf8.count))]
    }

    private static func failure(in effects: [Machine.Effect]) -> NavigationFailure? {
        effects.lazy.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }.first
    }

    @Test(
        "Arguments of up to 64 KiB are accepted, and larger ones fail without a change",
        arguments: ["command.ItemSelected", "event.Sheet", "event.Root"])
    func arguments(type: String) throws {
        var session = try session()
        let before = session.machine
        let failure = try #require(Self.failure(in: session.send(type, item(64 * 1024 + 1))))
        #expect(failure.code == "navigation.argumentsTooLarge")
        #expect(failure.message == "the arguments of screen 'item' exceed 65536 bytes of JSON")
        #expect(session.machine == before)
        #expect(Self.failure(in: session.send(type, item(64 * 1024))) == nil)
        #expect(session.state.top.screen == "item")
    }

    @Test("The size of a text counts with JSON's escapes")
    func escapes() throws {
        var session = try session()
        let text = String(repeating: "\u{1}", count: 20_000)
        #expect(Self.failure(in: session.send("command.ItemSelected", ["itemID": .string(text)])) != nil)
    }

    @Test("The size of all screens together is bounded, and a state at the limit can be published and reduced")
    func total() throws {
        var session = try session()
        for number in 1...8 {
            #expect(Self.failure(in: session.send("command.ItemSelected", item(64 * 1024))) == nil, "\(number)")
        }
        let before = session.machine
        #expect(Self.failure(in: session.send("command.ItemSelected", item(20)))?.code == "navigation.stateTooLarge")
        #expect(Self.failure(in: session.send("event.Alert", ["title": "Hello"]))?.code == "navigation.stateTooLarge")
        #expect(session.machine == before)
        #expect(try JSONEncoder().encode(session.machine.snapshot).count < 4 * 1024 * 1024)
        #expect(Self.failure(in: session.send("event.Back")) == nil)
        session.report("ScreenGone", "item-9")
        #expect(Self.failure(in: session.send("command.ItemSelected", item(20))) == nil)
    }

    @Test("The title of an alert counts in the size")
    func title() throws {
        var session = try session()
        let title = JSONValue.string(String(repeating: "t", count: 600_000))
        #expect(Self.failure(in: session.send("event.Alert", ["title": title]))?.code == "navigation.stateTooLarge")
        #expect(session.state.presentations.isEmpty)
    }

    @Test("A request or a deep link that is too large is discarded with a report")
    func requestsAndLinks() throws {
        var session = try session()
        let before = session.state
        let discards = session.send(
            "command.NavigationRequested", ["action": ["push": ["screen": "item", "arguments": item(70_000)]]]
        ).discards
        #expect(discards == ["command.NavigationRequested: the arguments of screen 'item' exceed 65536 bytes of JSON"])
        for length in [8193, 70_000] {
            let url = "shop://item/".padding(toLength: length, withPad: "i", startingAt: 0)
            let effects = session.send("event.DeepLinkReceived", ["url": .string(url)])
            #expect(effects.discards == ["event.DeepLinkReceived: the URL exceeds 8192 bytes"])
        }
        #expect(session.state == before)
        for _ in 1...8 { session.send("command.ItemSelected", item(64 * 1024)) }
        let full = session.state
        let refused = session.send("event.DeepLinkReceived", ["url": "shop://item/5"]).discards
        #expect(
            refused == [
                "event.DeepLinkReceived: the arguments and texts of all screens would exceed 524288 bytes"
            ])
        #expect(session.state == full)
    }

    @Test("A state of an older version that is too large can still change")
    func restored() throws {
        var session = try session()
        session.send("command.ItemSelected", item(20))
        var snapshot = session.machine.snapshot
        snapshot.state.path[0].arguments = ["itemID": .string(String(repeating: "x", count: 600_000))]
        var machine = Restoration(snapshot, flow: session.machine.flow).machine
        let back = Machine.Input(id: "b", type: "event.Back", subject: "default", data: [:])
        #expect(Self.failure(in: machine.handle(back)) == nil)
        #expect(machine.state.path.isEmpty)
    }
}
