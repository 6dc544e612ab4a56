import EventBus
import Foundation
import Testing

@testable import ZeroMQEventBus

@Suite("When a bus is closed")
struct ClosingTests {
    @Test("it waits for no broker that has never answered", .timeLimit(.minutes(1)))
    func noBroker() async throws {
        try await TestBroker.withDirectory { broker in
            let state = try await stateAtOnce(of: broker.bus()) { bus in await bus.until { $0.state == .open } }
            #expect(state == .closed)
        }
    }

    @Test("it waits a moment for one that has answered, which may have gone since", .timeLimit(.minutes(1)))
    func brokerGone() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let state = try await stateAtOnce(of: bus) { bus in
                try await broker.run { try await bus.waitUntilConnected(timeout: .seconds(30)) }
            }
            #expect(state == .open)
        }
    }

    @Test("it ends when it is told to before it has begun, or amid that", .timeLimit(.minutes(1)))
    func cancelledEarly() async throws {
        for turns in 0..<100 {
            try await TestBroker.withDirectory { broker in
                let bus = try broker.bus()
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await bus.run() }
                    for _ in 0..<turns { await Task.yield() }
                    group.cancelAll()
                }
                #expect(await bus.state == .closed)
            }
        }
    }

    /// - Returns: how the bus is when it has just been told to end.
    private func stateAtOnce(
        of bus: ZeroMQEventBus, after body: @escaping @Sendable (ZeroMQEventBus) async throws -> Void
    ) async throws -> ZeroMQEventBus.State {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bus.run() }
            try await body(bus)
            let state = await bus.stateAfterLeaving()
            while let end = await group.nextResult() {
                #expect(throws: CancellationError.self) { try end.get() }
            }
            return state
        }
    }
}

extension ZeroMQEventBus {
    fileprivate func stateAfterLeaving() -> State {
        leave()
        return state
    }
}
