import BusConformance
import EventBus
import Foundation
import Testing

@Suite("In-memory bus")
struct InMemoryEventBusTests {
    @Test("keeps the promises of every bus", .timeLimit(.minutes(1)), arguments: ConformanceCase.all)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        let hub = InMemoryHub()
        try await conformanceCase.run { source in InMemoryEventBus(source: source, hub: hub) }
    }

    @Test("refuses what is published once its process has ended, and so does its reader")
    func closedAfterRun() async throws {
        let bus = InMemoryEventBus(source: "gone/1")
        try await bus.withSubscription(to: [.all], from: .now) { messages in
            await withThrowingTaskGroup { group in
                group.addTask { try await bus.run() }
                group.cancelAll()
            }
            let reading = await #expect(throws: BusError.self) { for try await _ in messages {} }
            #expect(reading?.code == .closed)
        }
        let publishing = await #expect(throws: BusError.self) { try await bus.publish(Batch([])) }
        #expect(publishing?.code == .closed)
    }

    @Test("does not journal a query")
    func refusesQueries() async throws {
        let bus = InMemoryEventBus(source: "asker/1")
        let type = MessageType(kind: .query, name: "Anything")
        let query = Envelope(attributes: Attributes(type: type, source: bus.source), data: .init("{}".utf8))
        let error = await #expect(throws: BusError.self) { try await bus.publish(Batch([query])) }
        #expect(error?.code == .refused)
        #expect(await bus.hub.end.offset == 0)
    }
}
