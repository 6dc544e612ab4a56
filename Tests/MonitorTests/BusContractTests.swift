import AppContract
import Contracts
import EventBus
import Monitor
import Testing

@Suite("The contracts of the services on a bus")
struct BusContractTests {
    @Test("leave out a contract with a name that would be more than a name in another file, and name it on one line")
    func names() async throws {
        let bus = InMemoryEventBus(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
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
}
