internal import EventBus
internal import Foundation
internal import Logging
internal import Transports

/// Publishes batches as fast as the bus acknowledges them, several at a time.
struct BusPublisher {
    /// The maximum number of messages in a batch. Further messages are sent in further batches.
    static let batchSize = 100
    /// The maximum number of batches that are not yet acknowledged. The next batch waits for an acknowledgement.
    static let window = 16

    let address: String

    func run(_ control: Control) async throws {
        try await BusPeer.withBus(at: address) { bus in
            try await control.report()
            var prepared: [Batch] = []
            var (window, isTransient) = (Self.window, false)
            while let order = try await control.nextOrder() {
                switch order.action {
                case .prepare:
                    prepared = try Self.batches(order, source: bus.source)
                    isTransient = order.isTransient
                    window = Self.window(for: order.sessionCount, onThread: bus.taskExecutor != nil)
                    try await control.report()
                case .run:
                    try await control.report(
                        try await Self.publish(prepared, isTransient: isTransient, window: window, on: bus))
                    prepared = []
                }
            }
        }
    }

    /// The messages, in the form in which a program passes messages to the bus. The creation of the messages is not
    /// measured.
    private static func batches(_ order: PeerOrder, source: String) throws -> [Batch] {
        let sessions = order.sessions
        return try stride(from: 0, to: order.count, by: batchSize).map { start in
            let session = sessions[start / batchSize % sessions.count]
            let messages = try (start..<min(start + batchSize, order.count)).map {
                try Envelope(BenchmarkEvent(number: Payload.firstNumber + $0), source: source, subject: session)
            }
            return Batch(messages)
        }
    }

    /// The number of batches that are published at the same time. The tasks of a bus without a thread of its own begin
    /// in any order, so then no two of them are of the same session.
    static func window(for sessionCount: Int, onThread: Bool) -> Int {
        onThread ? window : min(window, sessionCount)
    }

    private static func publish(
        _ batches: [Batch], isTransient: Bool, window: Int, on bus: EventBus
    ) async throws -> Report {
        var report = Report(begin: MonotonicTime.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, batch) in batches.enumerated() {
                if index >= window { try await group.next() }
                group.addTask(executorPreference: bus.taskExecutor) {
                    if isTransient {
                        try await bus.publishTransient(batch.messages)
                    } else {
                        try await bus.publish(batch)
                    }
                }
            }
            try await group.waitForAll()
        }
        report.end = MonotonicTime.now
        report.count = batches.map(\.messages.count).reduce(0, +)
        return report
    }
}

/// Connections of a process to the bus.
enum BusPeer {
    /// Connects, and runs `body` on the executor of the bus.
    static func withBus<Result: Sendable>(
        at address: String, _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        try await withOpenBus(at: address) { bus in
            try await withTaskExecutorPreference(bus.taskExecutor) { try await body(bus) }
        }
    }

    private static func withOpenBus<Result: Sendable>(
        at address: String, _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        let source = "bench/\(ProcessInfo.processInfo.processIdentifier)"
        let bus = try BusFactory.standard.bus(at: address, source: source, logger: Logger(label: "bench"))
        return try await bus.whileOpen {
            try await bus.waitUntilConnected(timeout: .seconds(30))
            return try await body(bus)
        }
    }

    /// Opens several connections, and runs `body` with them.
    static func withBuses<Result: Sendable>(
        _ count: Int, at address: String, beside open: [EventBus] = [],
        _ body: @escaping @Sendable ([EventBus]) async throws -> Result
    ) async throws -> Result {
        guard open.count < count else { return try await body(open) }
        return try await withOpenBus(at: address) { bus in
            try await withBuses(count, at: address, beside: open + [bus], body)
        }
    }
}
