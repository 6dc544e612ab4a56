internal import Support
internal import Synchronization

/// A counter. Tasks can wait until it reaches a number.
package final class Counter: Sendable {
    private struct State {
        var count = 0
        var waiters: [(count: Int, latch: Latch)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var count: Int { state.withLock(\.count) }

    /// Returns the new count.
    @discardableResult
    package func increment() -> Int {
        state.withLock { state in
            state.count += 1
            for waiter in state.waiters where waiter.count <= state.count { waiter.latch.open() }
            state.waiters.removeAll { $0.count <= state.count }
            return state.count
        }
    }

    /// - Throws: `CancellationError`.
    package func waitUntil(_ count: Int) async throws {
        let latch = Latch()
        state.withLock { state in
            if state.count >= count { latch.open() } else { state.waiters.append((count, latch)) }
        }
        try await latch.waitUntilOpen()
    }
}
