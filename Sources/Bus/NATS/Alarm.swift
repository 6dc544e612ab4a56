internal import Synchronization
internal import SystemSupport

/// An object that has deadlines.
protocol Expiring: AnyObject, Sendable {
    /// Ends what is due. It must not wait: the thread of an ``Alarm`` calls it.
    /// - Returns: The next deadline; nil if there is none.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant?
}

/// Calls its owner when a deadline of the owner has passed.
///
/// Most deadlines are removed long before they pass. So a new deadline is only compared with the time of the next call,
/// and a removed one is not reported to the alarm: the owner is called, finds nothing due, and returns its next
/// deadline.
final class Alarm: Sendable {
    private let thread: ExecutorThread
    /// The time of the next call; nil if there is none.
    private let next = Mutex<ContinuousClock.Instant?>(nil)

    init(_ thread: ExecutorThread) {
        self.thread = thread
    }

    /// Schedules a call for a deadline of `owner`.
    func set(_ deadline: ContinuousClock.Instant, for owner: any Expiring) {
        let isFirst = next.withLock { next in
            if let next, next <= deadline { return false }
            next = deadline
            return true
        }
        guard isFirst else { return }
        thread.perform(after: deadline - .now) { [self, weak owner] in
            // A timer counts only if its time is that of the next call. If an earlier deadline was set after this one,
            // the call for that deadline has replaced it.
            let isNext = next.withLock { next in
                guard next == deadline else { return false }
                next = nil
                return true
            }
            guard isNext, let owner, let following = owner.expire(at: .now) else { return }
            set(following, for: owner)
        }
    }
}
