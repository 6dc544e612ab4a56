import BusConformance
import EventBus
import Foundation
import Support
import Testing

@Suite("In-memory bus: end of a process")
struct InMemoryClosingTests {
    private let type = MessageType(kind: .query, name: "Anything")

    private func query(from bus: InMemoryEventBus) -> Envelope {
        Envelope(attributes: Attributes(type: type, source: bus.source), data: Data("{}".utf8))
    }

    @Test("An asker gets 'unserved' when the process that it asked ends", .timeLimit(.minutes(1)))
    func serverEnds() async throws {
        let asker = InMemoryEventBus(source: "asker/1")
        let server = InMemoryEventBus(source: "server/1", hub: asker.hub)
        let (serving, begun) = (Latch(), Latch())
        try await withThrowingTaskGroup { group in
            group.addTask {
                let error = await #expect(throws: BusError.self) {
                    try await server.serve([type], whenServing: serving.open) { _ in
                        begun.open()
                        await Latch().waitUntilOpenOrCancelled()
                        throw CancellationError()
                    }
                }
                #expect(error?.code == .closed)
            }
            group.addTask {
                await serving.waitUntilOpenOrCancelled()
                let error = await #expect(throws: BusError.self) {
                    try await asker.ask(query(from: asker), timeout: .seconds(600))
                }
                #expect(error?.code == .unserved)
            }
            await begun.waitUntilOpenOrCancelled()
            await server.close()
            try await group.waitForAll()
        }
    }

    @Test("A query fails with 'closed' when the process of its asker ends", .timeLimit(.minutes(1)))
    func askerEnds() async throws {
        let asker = InMemoryEventBus(source: "asker/1")
        let server = InMemoryEventBus(source: "server/1", hub: asker.hub)
        let (serving, begun, stopped, told) = (Latch(), Latch(), Latch(), Latch())
        await withThrowingTaskGroup { group in
            group.addTask {
                try await server.serve([type], whenServing: serving.open) { _ in
                    begun.open()
                    await Latch().waitUntilOpenOrCancelled()
                    stopped.open()
                    throw CancellationError()
                }
            }
            group.addTask {
                await serving.waitUntilOpenOrCancelled()
                let error = await #expect(throws: BusError.self) {
                    try await asker.ask(query(from: asker), timeout: .seconds(600))
                }
                #expect(error?.code == .closed)
                told.open()
            }
            await begun.waitUntilOpenOrCancelled()
            await asker.close()
            await told.waitUntilOpenOrCancelled()
            await stopped.waitUntilOpenOrCancelled()
            group.cancelAll()
        }
    }

    @Test("A reader under a claim fails with 'closed' when its process ends", .timeLimit(.minutes(1)))
    func readerEnds() async throws {
        let bus = InMemoryEventBus(source: "gone/1")
        let claim = try await bus.claim(consumer: "workers", as: .shared)
        try await bus.withSubscription(to: [.all], under: claim) { messages in
            await bus.close()
            let error = await #expect(throws: BusError.self) { for try await _ in messages {} }
            #expect(error?.code == .closed)
        }
    }
}

extension InMemoryEventBus {
    /// Ends the process that this handle represents.
    func close() async {
        await withThrowingTaskGroup { group in
            group.addTask { try await run() }
            group.cancelAll()
        }
    }
}
