import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Restoring a machine from a snapshot")
struct RestorationTests {
    @Test("A restored machine equals the one that was stored, and waits again for leaving screens")
    func restored() throws {
        let session = try Session.showingPlaylist(on: "ios")
        let restoration = Restoration(session.machine.snapshot, flow: session.machine.flow)
        #expect(restoration.machine == session.machine)
        #expect(restoration.dropped.isEmpty)
        #expect(
            restoration.effects == [
                .expectScreenGone(instance: "launch-1"), .expectScreenGone(instance: "serviceSelection-2"),
            ])
    }

    @Test("A screen that the flow no longer has is dropped, with all screens above it")
    func unknownScreen() throws {
        let flow = try ActionTests.flow(.replacePath(["b", "c", "d"]), .present("e", as: .sheet))
        var session = Session(flow)
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("c"))
        #expect(restoration.machine.state.path.map(\.screen) == ["b"])
        #expect(restoration.machine.state.presentations.isEmpty)
        #expect(restoration.dropped.map(\.id) == ["c-3", "d-4", "e-5"])
        #expect(restoration.effects.dismissals == ["e-5", "d-4", "c-3"])
        #expect(restoration.machine.state.leaving.map(\.id) == ["e-5", "d-4", "c-3"])
        #expect(restoration.machine.revision == session.machine.revision + 1)
    }

    @Test("Presentations below an unknown screen stay")
    func unknownPresentation() throws {
        let flow = try ActionTests.flow(
            .present("b", as: .sheet), .push("c"), .push("d"), .present("e", as: .sheet))
        var session = Session(flow)
        session.send("event.Go")
        let withoutTop = Restoration(session.machine.snapshot, flow: try without("e")).machine.state
        #expect(withoutTop.presentations.map(\.instances).map { $0.map(\.screen) } == [["b", "c", "d"]])
        let withoutMiddle = Restoration(session.machine.snapshot, flow: try without("d")).machine.state
        #expect(withoutMiddle.presentations.map(\.instances).map { $0.map(\.screen) } == [["b", "c"]])
        #expect(Restoration(session.machine.snapshot, flow: try without("b")).machine.state.presentations.isEmpty)
    }

    @Test("A session without its root starts again, with a new instance")
    func unknownRoot() throws {
        var session = Session(try ActionTests.flow(.setRoot("b"), .push("c")))
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("b"))
        #expect(restoration.machine.state.root.instance == ScreenInstance(screen: "a", id: "a-4"))
        #expect(restoration.dropped.map(\.id) == ["b-2", "c-3"])
    }

    @Test("A column with an unknown screen is emptied")
    func unknownColumn() throws {
        var session = Session(
            try ActionTests.flow(
                .setRoot("b", container: .split), .show("c", column: "detail"), .show("d", column: "side")))
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("c"))
        #expect(restoration.machine.state.root.container?.stacks.map(\.instance.screen) == ["d"])
        #expect(restoration.dropped.map(\.screen) == ["c"])
    }

    @Test("A snapshot of another platform leads to the start")
    func otherPlatform() throws {
        let snapshot = try Session.showingPlaylist(on: "mac").machine.snapshot
        let restoration = Restoration(snapshot, flow: try ShippedFlows.flow("ios"))
        #expect(restoration.machine.state.open.map(\.screen) == ["launch"])
        #expect(restoration.dropped.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
    }

    private func without(_ name: String) throws -> Flow {
        try Flow("letters", version: 2, platform: "ios", start: "a") {
            for letter in ["a", "b", "c", "d", "e"] where letter != name { Flow.Screen(letter) }
        }
    }
}

@Suite("Attempts after a restart")
struct GuardRestorationTests {
    private func stored(_ session: Session) throws -> NavigationSnapshot {
        try JSONDecoder().decode(NavigationSnapshot.self, from: JSONEncoder().encode(session.machine.snapshot))
    }

    @Test("An attempt has this JSON in a snapshot")
    func json() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.Home")
        let snapshot = try JSONValue(parsing: JSONEncoder().encode(session.machine.snapshot))
        let rule = try #require(session.state.attempt?.rule)
        #expect(
            snapshot.value(at: "state.attempt") == [
                "id": "m2.ios.ask", "rule": .string(rule), "instance": "form-2", "deadline": 5000,
                "message": [
                    "id": "m2", "type": "command.Next", "subject": "default", "data": ["name": "Bach"],
                    "attributes": ["platform": "ios", "instance": "form-2"],
                ],
                "queue": [
                    ["id": "m3", "type": "command.Home", "subject": "default", "data": [:], "attributes": [:]]
                ],
            ])
        session.answer()
        let after = try JSONValue(parsing: JSONEncoder().encode(session.machine.snapshot))
        #expect(after.value(at: "state.attempt") == nil)
        #expect(after.value(at: "memory.attempts") == ["m2.ios.ask"])
    }

    @Test("A restored machine waits for the answer again, and continues as before")
    func middle() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.Home")
        let restoration = Restoration(try stored(session), flow: session.machine.flow)
        #expect(restoration.machine == session.machine)
        #expect(restoration.effects == [.expectAnswer(attempt: "m2.ios.ask", within: .seconds(5))])
        var machine = restoration.machine
        let answer = Machine.Input(
            id: "m4", type: "event.DraftChecked", data: ["ok": true, "draft": 7],
            attributes: Machine.Attributes(causationID: "m2.ios.ask"))
        let expected = session.answer()
        #expect(machine.handle(answer) == expected)
        #expect(machine == session.machine)
    }

    @Test("An attempt continues after a change of its rule's deadline, policy or outcome, or of other rules")
    func sameRule() throws {
        let session = try GuardFlow.waiting()
        let changed = try Flow("form", version: 2, platform: "ios", start: "welcome") {
            for name in ["welcome", "form", "done", "news"] { Flow.Screen(name) }
            Flow.Transition(on: "command.News", do: [.push("news")])
            Flow.Transition(
                on: "command.Next", when: [.top("form")],
                guard: GuardFlow.saving(deadline: .seconds(9), meanwhile: .queue, rejected: [.pop], expired: []),
                do: [.replacePath(["done"])])
        }
        let restoration = Restoration(session.machine.snapshot, flow: changed)
        #expect(restoration.machine.state.attempt == session.state.attempt)
        var machine = restoration.machine
        _ = machine.handle(
            Machine.Input(
                id: "m3", type: "event.DraftChecked", data: ["ok": true],
                attributes: Machine.Attributes(causationID: "m2.ios.ask")))
        #expect(machine.state.path.map(\.screen) == ["done"])
    }

    @Test("An attempt without its rule is dropped with a report, and the new flow processes its queue")
    func ruleGone() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.Home")
        let changed = try Flow("form", version: 2, platform: "ios", start: "welcome") {
            for name in ["welcome", "form"] { Flow.Screen(name) }
            Flow.Transition(on: "command.Home", do: [.setRoot("form")])
        }
        let restoration = Restoration(try stored(session), flow: changed)
        #expect(restoration.machine.state.attempt == nil)
        #expect(restoration.machine.state.root.instance.screen == "form")
        #expect(
            restoration.effects.discards == ["command.Next: the flow no longer has the rule that waited for an answer"])
        #expect(restoration.effects.dismissals == ["form-2", "welcome-1"])
        #expect(restoration.machine.revision == session.machine.revision + 2)
        #expect(restoration.machine.cause == "m3")
    }

    @Test("An attempt without its screen is dropped with a report")
    func screenGone() throws {
        let session = try GuardFlow.waiting()
        let changed = try Flow("form", version: 2, platform: "ios", start: "welcome") { Flow.Screen("welcome") }
        let dropped = Restoration(session.machine.snapshot, flow: changed)
        #expect(dropped.machine.state.attempt == nil)
        #expect(dropped.effects.discards.count == 1)
        let elsewhere = try Flow("other", version: 1, platform: "mac", start: "welcome") { Flow.Screen("welcome") }
        #expect(Restoration(session.machine.snapshot, flow: elsewhere).effects.discards.count == 1)
    }

    @Test("A derived identifier is deterministic, and differs by cause, platform and name")
    func derivedIDs() {
        #expect(DerivedID.make(from: "a-1", platform: "ios", name: "ask") == "a-1.ios.ask")
        let ids = ["a-1", "a-2"].flatMap { cause in
            ["ios", "mac"].flatMap { platform in
                ["0", "1"].map { DerivedID.make(from: cause, platform: platform, name: $0) }
            }
        }
        #expect(Set(ids).count == ids.count)
    }

    @Test("A derived identifier stays short and unique, however long the chain of causes is")
    func derivedChain() {
        var ids = ["0123456789abcdef-1"]
        for _ in 0..<1000 { ids.append(DerivedID.make(from: ids[ids.count - 1], platform: "ios", name: "1")) }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.utf8.count < 128 && $0.hasPrefix("0123456789abcdef-1") })
    }
}
