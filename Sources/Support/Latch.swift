internal import Synchronization

/// A latch that stays open after the first ``open()``. Any number of tasks may wait for it, before and after it is
/// opened.
public final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var lastID: UInt64 = 0
        /// The tasks that wait, by id.
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// Opens the latch, and resumes the tasks that wait. Further calls have no effect.
    public func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until the latch is open.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func waitUntilOpen() async throws {
        await waitUntilOpenOrCancelled()
        guard state.withLock(\.isOpen) else { throw CancellationError() }
    }

    /// Waits until the latch is open or the task is cancelled.
    public func waitUntilOpenOrCancelled() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // If the task is cancelled after this line, its handler runs later and finds the waiter.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
