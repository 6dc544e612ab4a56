import Foundation
import Synchronization

/// The shared state of the supervisor's parts.
///
/// The parts do not call each other. Each one watches the board, and starts, waits or stops accordingly. One lock
/// guards the whole state, so that the start of an instance and a request to stop cannot overlap.
final class StatusBoard: Sendable {
    private struct State {
        var roster: Roster
        var isClosed = false
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    /// Called under the lock at each change, so that changes are recorded in their order.
    private let record: @Sendable (ProjectStatus) -> Void

    init(_ roster: Roster, record: @escaping @Sendable (ProjectStatus) -> Void) {
        state = Mutex(State(roster: roster))
        self.record = record
    }

    var view: Roster { state.withLock { $0.roster } }

    /// Adds ports and records the first status, which replaces the status of an earlier run.
    func begin(ports: [String: Int]) {
        state.withLock { state in
            state.roster.offer(ports)
            record(state.roster.status)
        }
    }

    /// Changes the roster and wakes all watchers.
    ///
    /// The watchers are woken outside the lock; otherwise there could be a deadlock. To resume a task takes the task's
    /// own lock. A cancellation holds that lock while it runs a watcher's termination handler, and the handler needs
    /// the lock of the board.
    @discardableResult
    func update<R: Sendable, E: Error>(_ change: (inout Roster) throws(E) -> R) throws(E) -> R {
        let (result, watchers) = try state.withLock { state throws(E) in
            // If `change` throws, nothing is changed.
            var roster = state.roster
            let result = try change(&roster)
            if roster.status != state.roster.status { record(roster.status) }
            state.roster = roster
            return (result, Array(state.watchers.values))
        }
        for watcher in watchers { watcher.yield() }
        return result
    }

    func change(_ instance: String, _ change: (inout ServiceStatus) -> Void) {
        update { $0.change(instance, change) }
    }

    /// The current roster, then the newest roster after each change. A slow reader misses rosters in between. The
    /// sequence ends with the run.
    func views() -> some AsyncSequence<Roster, Never> & Sendable {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return state.nextWatcher
        }
        continuation.yield()
        if let watcher {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.watchers.removeValue(forKey: watcher) }
            }
        } else {
            continuation.finish()
        }
        return changes.map { self.view }
    }

    /// Waits for a roster for which `fits` returns true.
    ///
    /// - Returns: the roster. Nil if the task is cancelled, or the run ends, before there is such a roster.
    func first(where fits: @Sendable (Roster) -> Bool) async -> Roster? {
        for await view in views() where fits(view) { return view }
        return nil
    }

    /// Ends all sequences of ``views()``. The roster stays as it is.
    func close() {
        let watchers = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [:] }
            return state.watchers
        }
        for watcher in watchers.values { watcher.finish() }
    }
}
