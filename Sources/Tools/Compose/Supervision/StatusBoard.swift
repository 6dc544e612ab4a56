import Foundation
import Synchronization

/// The ``Roster`` of a supervisor, guarded by a lock. Tasks change it, and wait for changes of it.
final class StatusBoard: Sendable {
    private struct State {
        var roster: Roster
        var isClosed = false
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    /// Called under the lock with each changed status.
    private let record: @Sendable (ProjectStatus) -> Void

    init(_ roster: Roster, record: @escaping @Sendable (ProjectStatus) -> Void) {
        state = Mutex(State(roster: roster))
        self.record = record
    }

    var view: Roster { state.withLock { $0.roster } }

    /// Adds ports, sets the address of the bus, and records the status even if it has not changed.
    func begin(ports: [String: Int], bus: String) {
        state.withLock { state in
            state.roster.offer(ports)
            state.roster.use(bus: bus)
            record(state.roster.status)
        }
    }

    /// Changes the roster and wakes all watchers.
    ///
    /// The watchers are woken outside the lock, because the termination handler of a watcher acquires the lock.
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

    func change(_ instance: String, _ change: (inout InstanceStatus) -> Void) {
        update { $0.change(instance, change) }
    }

    /// The current roster, then the newest roster after each change. A slow reader misses rosters in between.
    /// ``close()`` ends the sequence.
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
    /// - Returns: the roster. Nil if the task is cancelled, or ``close()`` is called, before there is such a roster.
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
