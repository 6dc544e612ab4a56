import BusConformance
import EventBus
import Support
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Progress of waiting consumers", .timeLimit(.minutes(1)))
struct IdleConsumerTests {
    private struct Rare: EventMessage {}

    @Test("Messages that a consumer does not receive count as handled, but never one that it is handling")
    func settled() async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    try await bus.consuming("idle", Rare.self) { idle in
                        try await bus.consuming("busy", Counted.self) { busy in
                            try await bus.publish(numbers: 0..<100)
                            try await busy.began.waitUntilOpen()
                            try await bus.publish(Rare())
                            try await idle.began.waitUntilOpen()
                            idle.finish.open()
                            // The client records the progress of both consumers in the same tick.
                            try await bus.waitUntilHandled(through: 101, by: idle)
                            #expect(try await bus.position(of: busy) == 0)
                            busy.finish.open()
                            try await bus.waitUntilHandled(through: 101, by: busy)
                        }
                    }
                }
            }
        }
    }

    @Test("The progress of a waiting reader stays below its oldest unfinished message")
    func unfinished() async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    let progress = ConsumerProgress()
                    try await bus.publish(numbers: 0..<10)
                    try await bus.reading("busy", Counted.self, progress) { busy in
                        try await bus.reading("idle", Rare.self, ConsumerProgress()) { idle in
                            try await busy.began.waitUntilOpen()
                            try await bus.publish(Rare())
                            try await bus.waitUntilHandled(through: 2, by: busy)
                            // The client records the progress of both consumers in the same tick.
                            try await bus.waitUntilHandled(through: 11, by: idle)
                            #expect(try await bus.position(of: busy) == 2, "message 3 is at hand")
                            progress.oldestUnfinished = 7
                            try await bus.waitUntilHandled(through: 6, by: busy)
                            #expect(try await bus.position(of: busy) == 6)
                            progress.oldestUnfinished = nil
                            try await bus.waitUntilHandled(through: 11, by: busy)
                        }
                    }
                }
            }
        }
    }
}

/// A consumer that handles its first message until it is allowed to finish.
private struct Handling: Sendable {
    let consumer: String
    let member: ConsumerMember
    let began = Latch()
    let finish = Latch()
}

extension ZeroMQEventBus {
    fileprivate func consuming<M: Message>(
        _ consumer: String, _ type: M.Type, _ body: @escaping @Sendable (Handling) async throws -> Void
    ) async throws {
        let handling = Handling(consumer: consumer, member: .shared)
        let claim = try await claim(consumer: consumer, as: handling.member)
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await self.bus.consume(under: claim, [.type(M.self)]) { _ in
                    handling.began.open()
                    await handling.finish.waitUntilOpenOrCancelled()
                    return []
                }
            }
            try await body(handling)
            group.cancelAll()
        }
    }

    /// Receives all messages and finishes none. The third counts as the oldest unfinished one.
    fileprivate func reading<M: Message>(
        _ consumer: String, _ type: M.Type, _ progress: ConsumerProgress,
        _ body: @escaping @Sendable (Handling) async throws -> Void
    ) async throws {
        let handling = Handling(consumer: consumer, member: .shared)
        let claim = try await claim(consumer: consumer, as: handling.member)
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await self.withSubscription(to: [.type(M.self)], under: claim, progress: progress) { messages in
                    for try await message in messages where message.position?.offset == 3 {
                        progress.oldestUnfinished = 3
                        handling.began.open()
                    }
                }
            }
            try await body(handling)
            group.cancelAll()
        }
    }

    /// Reads the position of a consumer with a repeated claim, which changes no owner.
    fileprivate func position(of handling: Handling) async throws -> UInt64 {
        try await claim(consumer: handling.consumer, as: handling.member).position.offset
    }

    fileprivate func waitUntilHandled(through offset: UInt64, by handling: Handling) async throws {
        while try await position(of: handling) < offset {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
