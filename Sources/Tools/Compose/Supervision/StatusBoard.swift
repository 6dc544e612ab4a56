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
            state.roster.status.ports = ports
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

    func request(_ stop: StopRequest) {
        update { $0.stop = max($0.stop, stop) }
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

    /// Begins the round that an instance was asked for, if it may still start.
    ///
    /// - Returns: what to start. From then on those it depends on wait for it when they stop.
    func claimRound(of instance: String) -> Service? {
        update { roster in
            guard case .start = roster.nextStep(of: instance), let status = roster[instance],
                let service = roster.definition(of: status)
            else { return nil }
            roster.definitions[instance] = service
            let awaitsReadiness = roster.stack.awaitsReadiness(of: service)
            roster[instance] = ServiceStatus(beginning: status, awaitsReadiness: awaitsReadiness)
            return service
        }
    }

    /// Marks an instance as starting once more within its round, unless it has been asked to end.
    func claimStart(of instance: String) -> Bool {
        update { roster in
            guard !roster.isToEnd(instance) else { return false }
            roster.change(instance) { $0.state = .starting }
            return true
        }
    }

    func change(_ instance: String, _ change: (inout ServiceStatus) -> Void) {
        update { $0.change(instance, change) }
    }

    /// The instance has ended, and stays so unless it has been asked for anew.
    func settle(_ instance: String) {
        update { roster in
            let isAskedFor =
                roster.stop == .none && roster[instance]?.order.isWanted == true && roster.isToEnd(instance)
            roster.change(instance) { $0.state = isAskedFor ? .restarting : .exited }
        }
    }

    /// Marks an instance as failed; while the stack is still being brought up, that is the end of it all.
    func fail(_ instance: String, with error: ComposeError) {
        update { $0.fail(instance, with: error) }
    }

    /// Marks an instance as failed that cannot be started, unless something has changed meanwhile.
    func refuseRound(of instance: String) {
        update { roster in
            guard case .refuse(let error) = roster.nextStep(of: instance) else { return }
            roster.change(instance) { $0.round = $0.order.round }
            roster.fail(instance, with: error)
        }
    }

    /// Takes an instance off the board that was removed and has ended; on a stop of all it stays there for all to see.
    ///
    /// - Returns: whether its keeper may go.
    func dismiss(_ instance: String) -> Bool {
        update { roster in
            guard case .leave = roster.nextStep(of: instance) else { return false }
            guard roster[instance]?.order.isRemoved == true else { return true }
            roster[instance] = nil
            roster.definitions[instance] = nil
            roster.kept.remove(instance)
            return true
        }
    }

    /// The instances that have no keeper yet; the caller gives them one.
    func takeUnkept() -> [String] {
        update { roster in
            let names = roster.status.services.map(\.name).filter { !roster.kept.contains($0) }
            roster.kept.formUnion(names)
            return names
        }
    }
}
