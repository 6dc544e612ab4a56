import Foundation
import HostileValues
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Stored states that cannot be continued")
struct HostileSnapshotTests {
    /// A snapshot with a number in every place that can have one.
    private func snapshot() throws -> JSONValue {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.Home", ["count": 1])
        var snapshot = session.machine.snapshot
        snapshot.state.attempts[0].message.attributes.time = 1000
        snapshot.state.attempts[0].message.attributes.expiry = 2000
        snapshot.state.parked = ParkedLink(url: "form://done", messageID: "m9", expires: 3000)
        snapshot.state.path[0].arguments["number"] = 1
        return try JSONValue(encoding: snapshot)
    }

    private func isReadable(_ json: String) -> Bool {
        (try? JSONDecoder().decode(NavigationSnapshot.self, from: Data(json.utf8))) != nil
    }

    @Test("A number that is too large is refused, except in values that only pass through")
    func numbers() throws {
        let texts = try snapshot().extremeNumbers { !$0.contains("arguments.") && !$0.contains("data.") }
        #expect(
            Set(texts.map(\.path)) == [
                "revision", "flow.version", "memory.instances", "state.parked.expires", "state.attempt.deadline",
                "state.attempt.message.attributes.time", "state.attempt.message.attributes.expiry",
            ])
        #expect(texts.filter { isReadable($0.json) } == [])
        let passing = try snapshot().extremeNumbers { $0.contains("arguments.") || $0.contains("data.") }
        #expect(Set(passing.map(\.path)) == ["state.path.0.arguments.number", "state.attempt.queue.0.data.count"])
        #expect(passing.allSatisfy { isReadable($0.json) })
    }

    @Test("A session continues from the greatest numbers that can be read")
    func greatest() throws {
        var session = Session(try ActionTests.flow(.push("b")))
        session.send("event.Go")
        var json = try JSONValue(encoding: session.machine.snapshot).description
        let greatest = "9007199254740991"
        json = json.replacing(#""revision":1"#, with: #""revision":\#(greatest)"#)
        json = json.replacing(#""instances":2"#, with: #""instances":\#(greatest)"#)
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: Data(json.utf8))
        var machine = Restoration(snapshot, flow: session.machine.flow).machine
        _ = machine.handle(Machine.Input(id: "m9", type: "event.Go"))
        #expect(machine.state.path.last?.id == "b-9007199254740992")
    }

    @Test("Runs that are their own parent, each other's parents, or duplicates are refused")
    func runs() throws {
        func text(_ runs: [FlowRun]) throws -> String {
            var snapshot = try GuardFlow.waiting().machine.snapshot
            snapshot.state.runs = runs
            return try JSONValue(encoding: snapshot).description
        }
        let first = FlowRun(id: "a-1", flow: "a", first: "form-2")
        let second = FlowRun(id: "a-2", flow: "a", first: "form-2", parent: "a-1")
        #expect(isReadable(try text([first, second])))
        #expect(isReadable(try text([second])))
        #expect(!isReadable(try text([second, first])))
        #expect(!isReadable(try text([first, first])))
        #expect(!isReadable(try text([FlowRun(id: "a-1", flow: "a", first: "form-2", parent: "a-1")])))
    }
}
