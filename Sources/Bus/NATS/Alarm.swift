internal import Synchronization
internal import SystemSupport

/// An object that has deadlines.
protocol Expiring: AnyObject, Sendable {
    /// Ends what is due. It must not wait: the thread of an ``Alarm`` calls it.
    /// - Returns: The next deadline; nil if there is none.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant?
}

/// Makes its owner look at its deadlines when one has come.
///
/// Most deadlines are removed long before they come. So a new deadline is only compared with the time of the next look,
/// and the alarm does not hear of a removed one: the owner looks, finds nothing that is due, and tells its next deadline.
final class Alarm: Sendable {
    private let thread: ExecutorThread
    /// The time of the next look; nil if there is none.
    private let next = Mutex<ContinuousClock.Instant?>(nil)

    init(_ thread: ExecutorThread) {
        self.thread = thread
    }

    /// Makes `owner` look at a deadline that it already has.
    func set(_ deadline: ContinuousClock.Instant, for owner: any Expiring) {
        let isFirst = next.withLock { next in
            if let next, next <= deadline { return false }
            next = deadline
            return true
        }
        guard isFirst else { return }
        thread.perform(after: deadline - .now) { [self, weak owner] in
            // A timer counts only if its time is that of the next look. If an earlier deadline was set after this one,
            // the look at that deadline has replaced it.
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
