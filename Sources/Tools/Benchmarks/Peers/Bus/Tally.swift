internal import EventBus
internal import Synchronization

/// What one subscriber has got so far; whoever waits for it looks on.
final class Tally: Sendable {
    private struct State {
        var report = Report()
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let expected: Int

    init(expected: Int) {
        self.expected = expected
    }

    var report: Report { state.withLock(\.report) }

    /// Counts until all have come; a task that is cancelled is told what has come until then.
    func count(_ messages: MessageSequence) async throws {
        do {
            for try await message in messages where add(Payload.number(in: message.data)) == expected { return }
        } catch is CancellationError {}
    }

    /// - Returns: how many there are.
    private func add(_ number: Int) -> Int {
        let now = MonotonicTime.now
        return state.withLock { state in
            if state.report.count == 0 { state.report.begin = now }
            if number <= state.lastNumber { state.report.misordered += 1 }
            state.lastNumber = number
            state.report.end = now
            state.report.count += 1
            return state.report.count
        }
    }
}
