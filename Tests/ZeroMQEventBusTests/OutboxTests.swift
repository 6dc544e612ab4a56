import EventBus
import OrderedCollections
import Testing

@testable import ZeroMQEventBus

@Suite("When a publisher is ahead of its broker")
struct OutboxTests {
    @Test(
        "beyond a full outbox it waits, what is cancelled there is gone, and all else arrives once",
        .timeLimit(.minutes(1)))
    func fullOutbox() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let count = ZeroMQEventBus.outboxCapacity + 100
            let received = try await bus.whileOpen {
                async let published: Void = withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask { try await bus.publish(numbers: number..<number + 1) }
                    }
                    try await group.waitForAll()
                }
                await bus.until { $0.outbox.batches + $0.outbox.waiting == count }
                await #expect(throws: CancellationError.self) {
                    try await withThrowingTaskGroup(of: Void.self) { cancelled in
                        cancelled.addTask { try await bus.publish(numbers: -1..<0) }
                        await bus.until { $0.outbox.batches + $0.outbox.waiting == count + 1 }
                        cancelled.cancelAll()
                        try await cancelled.waitForAll()
                    }
                }
                let (batches, waiting) = await bus.outbox
                #expect(batches <= ZeroMQEventBus.outboxCapacity)
                #expect(waiting >= 100)
                #expect(batches + waiting == count)
                let received = try await broker.run {
                    _ = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.numbers(count) }
                    try await bus.publish(numbers: count..<count + 1)
                    return try await bus.withSubscription(to: [.all], from: .beginning) {
                        try await $0.numbers(count + 1)
                    }
                }
                try await published
                return received
            }
            #expect(received.sorted() == Array(0...count))
        }
    }
}

extension ZeroMQEventBus {
    fileprivate var outbox: (batches: Int, waiting: Int) {
        (pending.values.count(where: \.isBatch), waiting.count)
    }
}
