internal import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQEventBus

/// A process's connection to the bus.
enum BusPeer {
    /// Connects, and runs `body` on the thread that owns the sockets, as a program does that wants its messages soon.
    static func withBus<Result: Sendable>(
        at address: String, _ body: @escaping @Sendable (ZeroMQEventBus) async throws -> Result
    ) async throws -> Result {
        let source = "bench/\(ProcessInfo.processInfo.processIdentifier)"
        let bus = try ZeroMQEventBus(address: address, source: source, logger: Logger(label: "bench"))
        return try await bus.whileOpen {
            try await bus.waitUntilConnected(timeout: .seconds(30))
            return try await withTaskExecutorPreference(bus.taskExecutor) { try await body(bus) }
        }
    }

    /// Several connections at once.
    static func withBuses<Result: Sendable>(
        _ count: Int, at address: String, beside open: [ZeroMQEventBus] = [],
        _ body: @escaping @Sendable ([ZeroMQEventBus]) async throws -> Result
    ) async throws -> Result {
        guard open.count < count else { return try await body(open) }
        return try await withBus(at: address) { bus in
            try await withBuses(count, at: address, beside: open + [bus], body)
        }
    }
}
