import BusConformance
import EventBus
import GRDB
import Synchronization
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Notices of a subscription")
struct SubscriptionNoticeTests {
    @Test("A subscription after a position reports what retention has removed after it", .timeLimit(.minutes(1)))
    func removed() async throws {
        try await TestBroker.withDirectory { broker in
            let end = try await broker.run {
                let bus = try broker.bus()
                return try await bus.whileOpen {
                    try await bus.publish(numbers: 1..<6)
                    return try await bus.end()
                }
            }
            try await DatabaseQueue(path: broker.journal).write {
                try $0.execute(
                    sql: """
                        DELETE FROM messages WHERE offset < 4;
                        UPDATE journal SET value = 3 WHERE key = 'pruned';
                        """)
            }
            let told = Mutex<[SubscriptionNotice]>([])
            let numbers = try await broker.run {
                let bus = try broker.bus("test/2")
                return try await bus.whileOpen {
                    try await bus.withSubscription(
                        to: [.type(Counted.self)], from: .after(Position(epoch: end.epoch, offset: 1)), until: end,
                        onNotice: { notice in told.withLock { $0.append(notice) } }
                    ) { messages in
                        try await messages.receive(.max).numbers
                    }
                }
            }
            #expect(numbers == [4, 5])
            #expect(told.withLock(\.self) == [.removed(Counted.type, through: 3)])
        }
    }
}
