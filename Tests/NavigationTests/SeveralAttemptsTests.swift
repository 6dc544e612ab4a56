import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Attempts of several screens")
struct SeveralAttemptsTests {
    /// A flow with two columns. `command.Save` waits until `event.Stored` comes.
    private static func flow(_ meanwhile: Flow.Guard.Meanwhile = .drop) throws -> Flow {
        let saving = Flow.Guard(
            ask: "command.Store", accept: "event.Stored", reject: "event.Refused", deadline: .seconds(5),
            meanwhile: meanwhile)
        let syncing = Flow.Guard(accept: "event.Synced", deadline: .seconds(1))
        return try Flow("desk", version: 1, platform: "mac", start: "home") {
            for name in ["home", "list", "detail", "sheet", "window"] { Flow.Screen(name) }
            Flow.Child(
                "child", start: "sheet",
                transitions: [
                    Flow.Transition(on: "command.Next", guard: syncing, do: [.finish()]),
                    Flow.Transition(on: "event.More", do: [.push("detail")]),
                ])
            Flow.Transition(
                on: "event.Start",
                do: [
                    .setRoot("home", container: .split), .show("list", column: "left"),
                    .show("detail", column: "right"),
                ])
            Flow.Transition(
                on: "command.Save", guard: saving, do: [.send(type: "command.Done", data: ["name": "${data.name}"])])
            Flow.Transition(on: "command.Touch", do: [.send(type: "command.Touched")])
            Flow.Transition(on: ["event.Sync", "event.Refused"], guard: syncing, do: [.send(type: "command.SyncDone")])
            Flow.Transition(on: "event.Sheet", do: [.present("sheet", as: .sheet)])
            Flow.Transition(on: "event.Window", do: [.present("window", as: .window)])
            Flow.Transition(on: "event.Begin", do: [.pushFlow("child")])
            Flow.Transition(on: "event.Push", do: [.push("list")])
            Flow.Transition(on: "event.Close", do: [.setRoot("home")])
        }
    }

    /// A session in which `list-3` is in the left column, and `detail-4` in the right one.
    private func session(_ meanwhile: Flow.Guard.Meanwhile = .drop) throws -> Session {
        var session = Session(try Self.flow(meanwhile))
        session.send("event.Start")
        #expect(session.state.shown.map(\.id) == ["home-2", "list-3", "detail-4"])
        return session
    }

    /// A session in which both columns wait, for the answers to `m2.mac.ask` and `m3.mac.ask`.
    private func waiting(_ meanwhile: Flow.Guard.Meanwhile = .drop) throws -> Session {
        var session = try session(meanwhile)
        session.save("A", from: "list-3")
        session.save("B", from: "detail-4")
        return session
    }

    @Test("Two columns wait at the same time, each for its own answer")
    func columns() throws {
        var session = try waiting()
        #expect(session.state.attempts.map(\.id) == ["m2.mac.ask", "m3.mac.ask"])
        #expect(session.state.attempts.map(\.instance) == ["list-3", "detail-4"])
        #expect(
            session.send("event.Stored", causedBy: "m3.mac.ask") == [
                .began(Machine.Attributes(platform: "mac", instance: "detail-4")),
                .send(type: "command.Done", data: ["name": "B"]),
            ])
        #expect(session.state.attempts.map(\.id) == ["m2.mac.ask"])
        #expect(session.send("event.Stored", causedBy: "m3.mac.ask").discards.count == 1)
        #expect(session.send("event.GuardDeadlinePassed", ["attempt": "m2.mac.ask"]).discarded == ["m2"])
        #expect(session.state.attempts.isEmpty)
    }

    @Test("An attempt discards the commands of its own screen only")
    func drop() throws {
        var session = try session()
        session.save("A", from: "list-3")
        #expect(
            session.send("command.Touch", platform: "mac", instance: "list-3").discards == [
                "command.Touch: command.Save waits for an answer"
            ])
        #expect(session.send("command.Touch", platform: "mac", instance: "detail-4").sent == ["command.Touched"])
        #expect(session.send("command.Touch").sent == ["command.Touched"], "it belongs to the root, which is in front")
    }

    @Test("Each attempt has a queue of its own")
    func queue() throws {
        var session = try waiting(.queue)
        session.send("command.Touch", platform: "mac", instance: "list-3")
        session.send("command.Touch", platform: "mac", instance: "detail-4")
        #expect(session.state.attempts.map { $0.queue.map(\.id) } == [["m4"], ["m5"]])
        #expect(session.send("event.Stored", causedBy: "m3.mac.ask").sent == ["command.Done", "command.Touched"])
        #expect(session.state.attempts.map { $0.queue.map(\.id) } == [["m4"]])
    }

    @Test("A newer attempt replaces the attempt of its own screen only")
    func supersede() throws {
        var session = try waiting(.supersede)
        #expect(session.save("C", from: "list-3").discarded == ["m2"])
        #expect(session.state.attempts.map(\.id) == ["m3.mac.ask", "m4.mac.ask"])
    }

    @Test("A sheet waits beside the screen that it covers, and events wait for the screen in front")
    func sheet() throws {
        var session = try session()
        session.send("event.Sync")
        #expect(session.state.attempts.map(\.instance) == ["home-2"])
        #expect(session.send("event.Sync").discards == ["event.Sync: event.Sync waits for an answer"])
        session.send("event.Sheet")
        session.send("event.Sync")
        #expect(session.state.attempts.map(\.instance) == ["home-2", "sheet-5"])
        #expect(session.report("PresentationDismissed", "sheet-5").discarded == ["m5"])
        #expect(session.send("event.Synced", causedBy: "m2").sent == ["command.SyncDone"])
    }

    @Test("An attempt of a child flow holds back all screens of its run, and no others")
    func run() throws {
        var session = try session()
        session.send("event.Begin")
        let first = session.state.top.id
        session.send("command.Next", platform: "mac", instance: first)
        session.send("event.More")
        let second = session.state.top.id
        #expect(second != first && session.state.attempts.map(\.instance) == [first])
        #expect(session.send("command.Next", platform: "mac", instance: second).discarded == ["m5"])
        #expect(session.save("A", from: "list-3").discards.isEmpty)
        session.send("event.Window")
        #expect(session.save("B", from: session.state.top.id).discards.isEmpty)
        #expect(session.state.attempts.count == 3)
    }

    @Test("At most 16 attempts wait")
    func limit() throws {
        var session = Session(try Self.flow())
        for _ in 0..<17 { session.send("event.Push") }
        let instances = session.state.path.map(\.id)
        for instance in instances.dropLast() { #expect(session.save("A", from: instance).discards.isEmpty) }
        #expect(
            session.save("A", from: instances[16]).discards == [
                "command.Save: 16 other messages wait for answers already"
            ])
        #expect(session.send("event.Close").discards.count == 16)
        #expect(session.state.attempts.isEmpty)
        #expect(session.machine.snapshot.memory.attempts?.count == 16)
    }

    @Test("The data of all waiting messages is bounded")
    func size() throws {
        var session = try session(.queue)
        let large: JSONValue = ["name": .string(String(repeating: "x", count: 63 * 1024))]
        session.save("A", from: "list-3")
        for _ in 0..<16 { session.send("command.Touch", large, platform: "mac", instance: "list-3") }
        #expect(session.send("command.Save", large, platform: "mac", instance: "detail-4").discards.isEmpty)
        #expect(
            session.send("command.Touch", large, platform: "mac", instance: "detail-4").discards == [
                "command.Touch: the waiting messages would exceed 1114112 bytes of data"
            ])
        session.send("event.Push")
        #expect(session.send("command.Save", large).discards.count == 1)
    }

    @Test("One step can end several attempts, and the messages of all their queues are handled")
    func ended() throws {
        var session = try waiting(.queue)
        session.send("command.Touch", platform: "mac", instance: "detail-4")
        session.send("command.Touch", platform: "mac", instance: "list-3")
        let effects = session.send("event.Close")
        #expect(effects.discarded == ["m2", "m3", "m5", "m4"])
        #expect(session.state.attempts.isEmpty)
        #expect(session.machine.snapshot.memory.attempts == ["m2.mac.ask", "m3.mac.ask"])
    }

    @Test("A message that rejects one attempt does not replace the attempt of another screen")
    func rejection() throws {
        var session = try session()
        session.save("A", from: "list-3")
        session.send("event.Sync")
        #expect(
            session.send("event.Refused", causedBy: "m2.mac.ask").discards == [
                "event.Refused: event.Sync waits for an answer"
            ])
        #expect(session.state.attempts.map(\.id) == ["m3"])
    }

    @Test("Older readers find one attempt in the JSON, and a restored machine waits for all answers")
    func json() throws {
        let session = try waiting()
        let data = try JSONEncoder().encode(session.machine.snapshot)
        let json = try JSONValue(parsing: data)
        #expect(json.value(at: "state.attempt.id") == "m2.mac.ask")
        #expect(json.value(at: "state.otherAttempts")?.arrayValue?.map { $0.value(at: "id") } == ["m3.mac.ask"])
        let restoration = Restoration(
            try JSONDecoder().decode(NavigationSnapshot.self, from: data), flow: session.machine.flow)
        #expect(restoration.machine == session.machine)
        #expect(
            restoration.effects.suffix(2) == [
                .expectAnswer(attempt: "m2.mac.ask", within: .seconds(5)),
                .expectAnswer(attempt: "m3.mac.ask", within: .seconds(5)),
            ])
        var one = session
        one.send("event.Stored", causedBy: "m2.mac.ask")
        let after = try JSONValue(parsing: JSONEncoder().encode(one.machine.snapshot))
        #expect(after.value(at: "state.attempt.id") == "m3.mac.ask")
        #expect(after.value(at: "state.otherAttempts") == nil)
    }
}

extension Session {
    @discardableResult
    fileprivate mutating func save(_ name: String, from instance: String) -> [Machine.Effect] {
        send("command.Save", ["name": .string(name)], platform: "mac", instance: instance)
    }
}
