internal import Synchronization

/// The actions of a connection that run at a time unless they are removed before it: timeouts.
///
/// A request costs one entry in a table instead of one task. The precision is ``step``.
package final class Deadlines: Sendable {
    /// Identifies an entry.
    struct ID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        var entries: [ID: (deadline: ContinuousClock.Instant, action: @Sendable () -> Void)] = [:]
    }

    private static let step = Duration.milliseconds(20)

    private let state = Mutex(State())
    private let news: AsyncStream<Void>
    private let newsWriter: AsyncStream<Void>.Continuation

    init() {
        (news, newsWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs `action` after `delay`, from ``run()``.
    func add(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
        let deadline = ContinuousClock.now + delay
        let (id, isFirst) = state.withLock { state in
            state.last += 1
            let id = ID(number: state.last)
            state.entries[id] = (deadline, action)
            return (id, state.entries.count == 1)
        }
        if isFirst { newsWriter.yield() }
        return id
    }

    /// Removes an entry. Its action may be running.
    func remove(_ id: ID) {
        _ = state.withLock { $0.entries.removeValue(forKey: id) }
    }

    /// Runs the actions until the task is cancelled.
    func run() async {
        for await _ in news {
            while !state.withLock(\.entries.isEmpty) {
                guard (try? await Task.sleep(for: Self.step)) != nil else { return }
                expire()
            }
        }
    }

    private func expire() {
        let now = ContinuousClock.now
        let due = state.withLock { state in
            let due = state.entries.filter { $0.value.deadline <= now }
            for id in due.keys { state.entries.removeValue(forKey: id) }
            return due.values.map(\.action)
        }
        for action in due { action() }
    }
}
