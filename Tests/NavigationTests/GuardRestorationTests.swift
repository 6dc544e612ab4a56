import Foundation
import Navigation
import Testing

@Suite("An attempt and a restart")
struct GuardRestorationTests {
    private func stored(_ session: Session) throws -> NavigationSnapshot {
        try JSONDecoder().decode(NavigationSnapshot.self, from: JSONEncoder().encode(session.machine.snapshot))
    }

    @Test("In a snapshot, an attempt is this JSON")
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

    @Test("Restored in the middle, the machine waits again and goes on as if nothing had been")
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

    @Test("Another deadline, policy or outcome, and other rules before it, leave it the same rule")
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

    @Test("Without its rule an attempt is dropped visibly, and what it held back is met by the flow as it is now")
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

    @Test("Without its screen an attempt is dropped visibly")
    func screenGone() throws {
        let session = try GuardFlow.waiting()
        let changed = try Flow("form", version: 2, platform: "ios", start: "welcome") { Flow.Screen("welcome") }
        let dropped = Restoration(session.machine.snapshot, flow: changed)
        #expect(dropped.machine.state.attempt == nil)
        #expect(dropped.effects.discards.count == 1)
        let elsewhere = try Flow("other", version: 1, platform: "mac", start: "welcome") { Flow.Screen("welcome") }
        #expect(Restoration(session.machine.snapshot, flow: elsewhere).effects.discards.count == 1)
    }

    @Test("An identifier that is derived is the same each time, and differs by cause, platform and name")
    func derivedIDs() {
        #expect(DerivedID.make(from: "a-1", platform: "ios", name: "ask") == "a-1.ios.ask")
        let ids = ["a-1", "a-2"].flatMap { cause in
            ["ios", "mac"].flatMap { platform in
                ["0", "1"].map { DerivedID.make(from: cause, platform: platform, name: $0) }
            }
        }
        #expect(Set(ids).count == ids.count)
    }

    @Test("However long the chain of causes is, an identifier stays short, and stays one of its own")
    func derivedChain() {
        var ids = ["0123456789abcdef-1"]
        for _ in 0..<1000 { ids.append(DerivedID.make(from: ids[ids.count - 1], platform: "ios", name: "1")) }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.utf8.count < 128 && $0.hasPrefix("0123456789abcdef-1") })
    }
}
