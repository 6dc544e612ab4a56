internal import Synchronization

/// A lock for each key, granted in the order of the calls.
final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var lastNumber: UInt64 = 0
        /// The tasks that wait for each key. A key that is not used has no entry.
        var waiting: [Key: [Waiter]] = [:]
    }

    private let state = Mutex(State())

    /// Runs `body` when the tasks that have asked for the key before have ended.
    /// - Throws: `CancellationError` if the task is cancelled while it waits; the error of `body`.
    func withLock<Result>(
        of key: Key, _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await begin(key)
        defer { end(key) }
        return try await body()
    }

    private func begin(_ key: Key) async throws {
        let number = state.withLock { state -> UInt64? in
            guard state.waiting[key] != nil else {
                state.waiting[key] = []
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFree = state.withLock { state in
                    guard state.waiting[key] != nil else {
                        state.waiting[key] = []
                        return true
                    }
                    state.waiting[key]?.append(Waiter(number: number, continuation: continuation))
                    return false
                }
                if isFree {
                    continuation.resume()
                } else if Task.isCancelled {
                    // The cancellation handler may have come before the waiter was there.
                    cancel(number, of: key)
                }
            }
        } onCancel: {
            cancel(number, of: key)
        }
    }

    private func cancel(_ number: UInt64, of key: Key) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting[key]?.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting[key]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func end(_ key: Key) {
        let next = state.withLock { state -> Waiter? in
            guard let first = state.waiting[key]?.first else {
                state.waiting[key] = nil
                return nil
            }
            state.waiting[key]?.removeFirst()
            return first
        }
        next?.continuation.resume()
    }
}
