internal import Synchronization
internal import SystemSupport

/// Something with parts that end at a deadline.
protocol Expiring: AnyObject, Sendable {
    /// Ends what is due. It must not wait: the thread of an ``Alarm`` calls it.
    /// - Returns: The next deadline; nil if there is none.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant?
}

/// Makes its owner look at its deadlines when one has come.
///
/// Most deadlines are removed long before they come. So a deadline is only compared with the time of the next look, and
/// its removal is not told: the owner then finds nothing that is due.
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
            // An earlier deadline may have been set since, and then the owner has named this one again.
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
