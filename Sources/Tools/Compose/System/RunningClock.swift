import Synchronization

/// A clock that stops while this process does not run: while it is suspended (`SIGSTOP`), or while the machine sleeps.
///
/// A task must read the clock regularly with ``tick()``: a gap of more than 2 s between two readings counts as a pause.
final class RunningClock: Clock {
    typealias Instant = SuspendingClock.Instant

    /// The time between two readings by ``tick()``.
    private static let interval: Duration = .seconds(1)
    /// A longer time between two readings is a pause.
    private static let longestGap: Duration = .seconds(2)

    private struct State {
        var read: Instant
        /// The time that does not count.
        var paused = Duration.zero
    }

    private let source: @Sendable () -> Instant
    private let state: Mutex<State>

    /// - Parameter source: returns the current time, including the time in which this process was suspended.
    init(source: @escaping @Sendable () -> Instant = { .now }) {
        self.source = source
        state = Mutex(State(read: source()))
    }

    var minimumResolution: Duration { SuspendingClock().minimumResolution }

    var now: Instant {
        state.withLock { state in
            let now = source()
            let gap = state.read.duration(to: now)
            if gap > Self.longestGap { state.paused += gap - Self.interval }
            state.read = now
            return now - state.paused
        }
    }

    /// The time at which a suspending clock will show this instant, if there is no pause until then.
    func suspending(_ instant: Instant) -> SuspendingClock.Instant {
        state.withLock { instant + $0.paused }
    }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        while case let rest = now.duration(to: deadline), rest > .zero {
            try await Task.sleep(for: rest, tolerance: tolerance, clock: .suspending)
        }
    }

    /// Reads the clock regularly until the task is cancelled.
    func tick() async {
        while !Task.isCancelled {
            _ = now
            try? await Task.sleep(for: Self.interval, clock: .suspending)
        }
    }
}
