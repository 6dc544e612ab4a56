import Synchronization

/// The one place where the supervisor's parts tell each other how things stand.
///
/// Services start, wait for each other and stop by looking at the board; nobody commands anybody. One lock guards all
/// of it, so that a service's claim to start and a request to stop cannot cross.
final class StatusBoard: Sendable {
    struct View: Sendable {
        var status: ProjectStatus
        var stop: StopRequest = .none
        /// Why the stack could not be brought up.
        var failure: ComposeError?
    }

    private struct State {
        var view: View
        var isClosed = false
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    /// Called under the lock after each change, so that what is written down keeps the order of the changes.
    private let record: @Sendable (ProjectStatus) -> Void

    init(_ status: ProjectStatus, record: @escaping @Sendable (ProjectStatus) -> Void) {
        state = Mutex(State(view: View(status: status)))
        self.record = record
    }

    var view: View { state.withLock { $0.view } }

    /// Writes down how all stands at the beginning, whatever stood there before.
    func begin(ports: [String: Int]) {
        state.withLock { state in
            state.view.status.ports = ports
            record(state.view.status)
        }
    }

    /// Changes the view and shows it to all who watch.
    ///
    /// They are told outside the lock: resuming a task takes that task's own lock, under which a cancellation may at the
    /// same time be running a watcher's termination handler, which needs ours.
    @discardableResult
    func update<R: Sendable>(_ change: (inout View) -> R) -> R {
        let (result, watchers) = state.withLock { state in
            let before = state.view
            let result = change(&state.view)
            if state.view.status != before.status { record(state.view.status) }
            return (result, Array(state.watchers.values))
        }
        for watcher in watchers { watcher.yield() }
        return result
    }

    /// The present view, then the newest after each change; one who is slow misses those between. Ends with the run.
    func views() -> some AsyncSequence<View, Never> & Sendable {
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
    func first(where fits: @Sendable (View) -> Bool) async -> View? {
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
}
