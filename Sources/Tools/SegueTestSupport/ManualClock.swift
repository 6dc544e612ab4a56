public import Foundation
internal import Support
internal import Synchronization

/// A clock that stands still until a test moves it.
public final class ManualClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        package var offset: Duration = .zero

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let wake: Latch
    }

    private struct State {
        var now = Instant()
        var nextID = 0
        var sleepers: [Sleeper] = []
        var watchers: [Latch] = []
    }

    private let state = Mutex(State())
    /// The date at the beginning, in milliseconds since 1970.
    private let start: Int64

    /// - Parameter date: The date at which the clock stands. Nil for the present second.
    public init(date: Date? = nil) {
        start = date?.milliseconds ?? Date().milliseconds / 1000 * 1000
    }

    public var now: Instant { state.withLock(\.now) }
    public var minimumResolution: Duration { .zero }

    /// The date at which the clock stands, in whole milliseconds.
    public var date: Date { Date(milliseconds: start + Int64(now.offset.milliseconds)) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let wake = Latch()
        let id = state.withLock { state in
            state.nextID += 1
            guard deadline > state.now else {
                wake.open()
                return state.nextID
            }
            state.sleepers.append(Sleeper(id: state.nextID, deadline: deadline, wake: wake))
            state.watchers.forEach { $0.open() }
            state.watchers = []
            return state.nextID
        }
        await wake.waitUntilOpenOrCancelled()
        state.withLock { state in state.sleepers.removeAll { $0.id == id } }
        try Task.checkCancellation()
    }

    /// Advances the time, and resumes all tasks whose deadline has come.
    public func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            for sleeper in state.sleepers where sleeper.deadline <= state.now { sleeper.wake.open() }
            state.sleepers.removeAll { $0.deadline <= state.now }
        }
    }

    /// Advances the time to the earliest deadline.
    package func advanceToNextDeadline() {
        guard let next = state.withLock({ state in state.sleepers.map(\.deadline).min() }) else { return }
        advance(by: now.duration(to: next))
    }

    /// Waits until at least `count` tasks sleep.
    package func sleepers(_ count: Int = 1) async throws {
        while true {
            try Task.checkCancellation()
            let news = Latch()
            let isDone = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append(news)
                return false
            }
            if isDone { return }
            await news.waitUntilOpenOrCancelled()
        }
    }
}
