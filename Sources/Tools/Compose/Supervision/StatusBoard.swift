import Foundation
import Synchronization

/// The one place where the supervisor's parts tell each other how things stand.
///
/// Services start, wait for each other and stop by looking at the board; nobody commands anybody. One lock guards all
/// of it, so that an instance's claim to start and a request to stop cannot cross.
final class StatusBoard: Sendable {
    private struct State {
        var roster: Roster
        var isClosed = false
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    /// Called under the lock after each change, so that what is recorded keeps the order of the changes.
    private let record: @Sendable (ProjectStatus) -> Void

    init(_ roster: Roster, record: @escaping @Sendable (ProjectStatus) -> Void) {
        state = Mutex(State(roster: roster))
        self.record = record
    }

    var view: Roster { state.withLock { $0.roster } }

    /// Records how all stands at the beginning, whatever stood there before.
    func begin(ports: [String: Int]) {
        state.withLock { state in
            state.roster.offer(ports)
            record(state.roster.status)
        }
    }

    /// Changes the roster and shows it to all who watch.
    ///
    /// They are told outside the lock: resuming a task takes that task's own lock, under which a cancellation may at the
    /// same time be running a watcher's termination handler, which needs ours.
    @discardableResult
    func update<R: Sendable, E: Error>(_ change: (inout Roster) throws(E) -> R) throws(E) -> R {
        let (result, watchers) = try state.withLock { state throws(E) in
            // A change that fails halfway has not happened.
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

    /// The present view, then the newest after each change; one who is slow misses those between. Ends with the run.
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

    /// Waits for a view that fits.
    ///
    /// - Returns: `nil` when the task was cancelled, or the run ended, before there was one.
    func first(where fits: @Sendable (Roster) -> Bool) async -> Roster? {
        for await view in views() where fits(view) { return view }
        return nil
    }

    /// Lets everyone who watches go; the view stays as it is.
    func close() {
        let watchers = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [:] }
            return state.watchers
        }
        for watcher in watchers.values { watcher.finish() }
    }
}
