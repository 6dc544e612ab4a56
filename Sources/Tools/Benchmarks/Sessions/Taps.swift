internal import Contracts
internal import EventBus
internal import Foundation
internal import Support
internal import Synchronization

/// Sends taps, and records when the documents that answer them arrive.
///
/// The time of an answer is measured from the time at which the tap was due. So a bus that holds up the sender does not
/// look faster than it is.
final class Taps: Sendable {
    private struct State {
        var due: [String: ContinuousClock.Instant] = [:]
        /// The times from taps to their answers, in milliseconds.
        var latencies: [Double] = []
        var count = 0
        /// Opened when every tap is answered. Nil if no task waits for that.
        var answered: Latch?
    }

    private let app: TabApp
    private let bus: EventBus
    private let state = Mutex(State())

    init(_ app: TabApp, on bus: EventBus) {
        self.app = app
        self.bus = bus
    }

    /// The number of taps that were sent.
    var count: Int { state.withLock(\.count) }

    /// Returns the times from taps to their answers, in milliseconds, since the last call.
    func drainLatencies() -> [Double] {
        state.withLock { state in
            defer { state.latencies = [] }
            return state.latencies
        }
    }

    /// Receives answers while `body` runs.
    func receive<Result: Sendable>(during body: () async throws -> Result) async throws -> Result {
        try await bus.withSubscription(to: [.type(Document.NavigationState.self)], from: .now) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await message in messages { self.handle(message) }
                }
                defer { group.cancelAll() }
                return try await body()
            }
        }
    }

    /// Sends taps at a fixed rate.
    /// - Parameter session: Chooses the session of the next tap.
    func send(_ rate: Int, for duration: Duration, in session: () -> String) async throws {
        let begin = ContinuousClock.now
        let count = Int(duration / .seconds(1) * Double(rate))
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<count {
                let due = begin + .seconds(1) * number / rate
                try await Task.sleep(until: due, tolerance: .zero)
                let name = session()
                group.addTask { try await self.send(in: name, due: due) }
            }
        }
    }

    func send(in session: String, due: ContinuousClock.Instant = .now) async throws {
        let tap = try app.tap(in: session)
        state.withLock { state in
            state.due[tap.id] = due
            state.count += 1
        }
        try await bus.publish(Batch([tap]))
    }

    /// Waits until every tap is answered.
    /// - Throws: ``BenchmarkError`` if taps are unanswered after `limit`.
    func waitUntilAnswered(within limit: Duration) async throws {
        let answered = Latch()
        state.withLock { state in
            state.answered = answered
            if state.due.isEmpty { answered.open() }
        }
        try await withTimeLimit(
            limit, orThrow: BenchmarkError("\(state.withLock(\.due.count)) taps were not answered within \(limit)")
        ) {
            try await answered.waitUntilOpen()
        }
    }

    private func handle(_ message: Envelope) {
        let now = ContinuousClock.now
        state.withLock { state in
            guard let cause = message.attributes.causationID, let due = state.due.removeValue(forKey: cause) else {
                return
            }
            state.latencies.append((now - due) / .milliseconds(1))
            if state.due.isEmpty { state.answered?.open() }
        }
    }
}
