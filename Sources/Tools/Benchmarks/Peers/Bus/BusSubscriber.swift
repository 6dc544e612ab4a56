internal import EventBus
internal import Synchronization

/// Several subscribers, each with its own connection, that count the messages that arrive.
struct BusSubscriber {
    private enum Turn {
        case counted, silent
    }

    let address: String
    let connections: Int

    func run(_ control: Control) async throws {
        try await BusPeer.withBuses(connections, at: address) { buses in
            try await control.report()
            while let order = try await control.nextOrder() {
                try await Self.count(order, buses: buses, control: control)
            }
        }
    }

    /// Subscribes and reports when all subscriptions are live. After the next order, reports the messages that have
    /// arrived.
    private static func count(_ order: PeerOrder, buses: [EventBus], control: Control) async throws {
        let begin = MonotonicTime.now
        let tallies = buses.map { _ in Tally(expected: order.count) }
        let (live, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(buses.count))
        try await withThrowingTaskGroup(of: Turn.self) { group in
            for (bus, tally) in zip(buses, tallies) {
                // Live messages are received on the thread of the bus, as in a service. The journal is read by an
                // ordinary task, as in `segue monitor`.
                group.addTask(executorPreference: order.isFromBeginning ? nil : bus.taskExecutor) {
                    let start = order.isFromBeginning ? StartPosition.beginning : .now
                    try await bus.withSubscription(to: [.type(BenchmarkEvent.self)], from: start) { messages in
                        continuation.yield()
                        try await tally.count(messages)
                    }
                    return .counted
                }
            }
            for await _ in live.prefix(buses.count) {}
            try await control.report()
            guard let order = try await control.nextOrder() else { return group.cancelAll() }
            group.addTask { try await waitForSilence(tallies, order) }
            var open = tallies.count
            while open > 0, let turn = try await group.next() {
                if turn == .counted { open -= 1 } else { group.cancelAll() }
            }
            group.cancelAll()
        }
        var report = Report(merging: tallies.map(\.report))
        if order.isFromBeginning { report.begin = begin }
        try await control.report(report)
    }

    /// Returns when no message has arrived for `order.patience` milliseconds. Messages that are then missing count as
    /// lost.
    private static func waitForSilence(_ tallies: [Tally], _ order: PeerOrder) async throws -> Turn {
        while true {
            let count = tallies.map(\.report.count).reduce(0, +)
            try await Task.sleep(for: .milliseconds(order.patience))
            if tallies.map(\.report.count).reduce(0, +) == count { return .silent }
        }
    }
}

/// The counts of one subscriber so far. Other tasks can read them while the subscriber counts.
final class Tally: Sendable {
    private struct State {
        var report = Report()
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let expected: Int
    /// The number of messages after which the clock is read. The C program on libnats reads it after each batch.
    private static let step = 100

    init(expected: Int) {
        self.expected = expected
    }

    var report: Report { state.withLock(\.report) }

    /// Counts messages until all have arrived. Returns without an error if the task is cancelled.
    func count(_ messages: MessageSequence) async throws {
        do {
            for try await message in messages where add(Payload.number(in: message.data)) == expected { return }
        } catch is CancellationError {}
    }

    /// - Returns: The number of messages so far.
    private func add(_ number: Int) -> Int {
        state.withLock { state in
            if number <= state.lastNumber { state.report.misordered += 1 }
            state.lastNumber = number
            state.report.count += 1
            let count = state.report.count
            if count == 1 { state.report.begin = MonotonicTime.now }
            if count == 1 || count % Self.step == 0 || count == expected { state.report.end = MonotonicTime.now }
            return count
        }
    }
}
