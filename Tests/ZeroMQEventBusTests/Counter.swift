import Synchronization

/// Counts, and lets one task wait for a count.
final class Counter: Sendable {
    private struct State {
        var count = 0
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func increment() {
        let due = state.withLock { state in
            state.count += 1
            guard let waiter = state.waiter, waiter.count <= state.count else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        due?.resume()
    }

    func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                guard state.count < count else { return true }
                state.waiter = (count, continuation)
                return false
            }
            if isDue { continuation.resume() }
        }
    }
}
