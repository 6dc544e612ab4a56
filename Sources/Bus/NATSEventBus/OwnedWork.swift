internal import Synchronization

/// Work that is completed although its caller is cancelled, from the call of ``run()`` to its end.
final class OwnedWork: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct State {
        var isFinished = false
        var lastCaller: UInt64 = 0
        var callers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let begun: AsyncStream<Work>
    private let beginner: AsyncStream<Work>.Continuation
    private let state = Mutex(State())

    init() { (begun, beginner) = AsyncStream.makeStream() }

    /// Does the work until ``finish()``, or until the task is cancelled, which also cancels the work.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await work in begun { group.addTask { await work() } }
            group.cancelAll()
        }
        finish()
    }

    /// Begins work. Does nothing after the end.
    func begin(_ work: @escaping Work) { beginner.yield(work) }

    /// Begins work, and waits for its end, or for that of ``run()``.
    func perform(_ work: @escaping Work) async {
        await withCheckedContinuation { continuation in
            let caller = state.withLock { state -> UInt64? in
                guard !state.isFinished else { return nil }
                state.lastCaller += 1
                state.callers[state.lastCaller] = continuation
                return state.lastCaller
            }
            guard let caller else { return continuation.resume() }
            begin {
                await work()
                self.state.withLock { $0.callers.removeValue(forKey: caller) }?.resume()
            }
        }
    }

    /// Ends ``run()`` and all calls that wait.
    func finish() {
        beginner.finish()
        let callers = state.withLock { state in
            defer { (state.isFinished, state.callers) = (true, [:]) }
            return state.callers.values
        }
        for caller in callers { caller.resume() }
    }
}
