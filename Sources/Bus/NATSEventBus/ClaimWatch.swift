internal import EventBus
internal import Synchronization

/// The end of one reader under a claim, and the progress that may be recorded while the reader waits.
///
/// The reader asks for each message that it has received if it ``takes(_:)`` the message, and ends when ``isEnded`` is
/// true. ``Claims`` ends the watch when the claim may no longer be valid.
final class ClaimWatch: Sendable {
    private struct State {
        var isEnded = false
        /// The offset up to which a waiting reader has received everything. Nil while it has a message or reads one.
        var waitingAfter: UInt64?
    }

    let claim: ConsumerClaim
    private let start = ContinuousClock.now
    private let progress: ConsumerProgress?
    private let onEnd: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - progress: The oldest unfinished message of the reader. Nil if the reader finishes each message before it asks
    ///     for the next one.
    ///   - onEnd: Called once when the watch ends. It lets a waiting reader look at ``isEnded``. It must not block.
    init(_ claim: ConsumerClaim, progress: ConsumerProgress?, onEnd: @escaping @Sendable () -> Void) {
        self.claim = claim
        self.progress = progress
        self.onEnd = onEnd
    }

    /// True if the claim may no longer be valid. The reader then delivers nothing more.
    var isEnded: Bool { state.withLock(\.isEnded) }

    /// True if the claim has been valid for more than one renewal.
    var hasLasted: Bool { !isEnded && ContinuousClock.now - start > .seconds(1) }

    /// True if the reader delivers the message: the claim is valid and covers it.
    func takes(_ message: Envelope) -> Bool {
        guard claim.covers(message) else { return false }
        return state.withLock { state in
            if !state.isEnded { state.waitingAfter = nil }
            return !state.isEnded
        }
    }

    /// Notes that the reader waits, and has received everything up to an offset. Call it only when the reader asks for
    /// a message, and before it takes the next one.
    func noteWaiting(after offset: UInt64) {
        state.withLock { $0.waitingAfter = offset }
    }

    /// The offset up to which all partitions of the claim are handled. Nil unless the reader waits.
    var settled: UInt64? {
        // The lock is held for both values: a message that the reader takes now is after the first one.
        state.withLock { state in
            guard !state.isEnded, let offset = state.waitingAfter else { return nil }
            return progress?.settled(delivered: offset) ?? offset
        }
    }

    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { onEnd() }
    }
}
