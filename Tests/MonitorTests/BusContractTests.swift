import AppContract
import Contracts
import EventBus
import Foundation
import Monitor
import Testing

@Suite("Contracts on a bus")
struct BusContractTests {
    @Test("A contract with an invalid name is left out, and reported in one line")
    func names() async throws {
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        for (instance, name) in [("1", "store"), ("2", "x\n}, { nkey: UEVIL }")] {
            try await bus.publish(
                Document.ServiceContract(name: name, version: "1", instance: instance, receives: [], sends: []))
        }
        let found = try await BusContract.read(bus)
        #expect(found.contract.parties.keys.sorted() == ["store"])
        let line = try #require(found.unreadable.first)
        #expect(found.unreadable.count == 1 && !line.utf8.contains(UInt8(ascii: "\n")), "\(line)")
        #expect(line.contains("[2] of test/1") && line.contains("is not a name; use letters"), "\(line)")
    }

    @Test("A message that no readable contract describes is not accepted if another contract is unreadable")
    func unreadable() async throws {
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        let brew = MessageType(kind: .command, name: "BrewTea")
        let drink = MessageType(kind: .command, name: "DrinkTea")
        try await bus.publish(
            Document.ServiceContract(
                name: "drinker", version: "1", instance: "a", receives: [MessageContract(type: drink, data: nil)],
                sends: []))
        func mistake(in type: MessageType) async throws -> KnownMessages.Mistake.Code? {
            try await KnownMessages(on: bus).mistake(in: Data("{}".utf8), of: type)?.code
        }
        #expect(try await mistake(in: brew) == .unknownType)
        var contract = try Envelope(
            Document.ServiceContract(name: "brewer", version: "1", instance: "b", receives: [], sends: []),
            source: bus.source)
        contract.data = Data(#"{"name": "brewer", "receives": [], "sends": []}"#.utf8)
        _ = try await bus.publish(Batch([contract]))
        #expect(try await mistake(in: brew) == .unreadableContract)
        #expect(try await mistake(in: drink) == nil)
    }
}
