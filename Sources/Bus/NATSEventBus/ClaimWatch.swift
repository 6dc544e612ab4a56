internal import EventBus
internal import Synchronization

/// The end of one reader under a claim, and the progress that may be recorded while the reader waits.
///
/// The reader asks for each message that it has received if the watch ``accepts(_:)`` it, and ends when ``isEnded`` is
/// true. ``ClaimWatches`` ends the watch when the claim may no longer be valid.
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
    ///   - onEnd: Called once when the watch ends. A waiting reader then checks ``isEnded``. It must not block.
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
    func accepts(_ message: Envelope) -> Bool {
        guard claim.covers(message) else { return false }
        return state.withLock { state in
            if !state.isEnded { state.waitingAfter = nil }
            return !state.isEnded
        }
    }

    /// Records that the reader waits, and has received everything up to an offset. Call it only when the reader asks
    /// for a message, and before it receives the next one.
    func recordWaiting(after offset: UInt64) {
        state.withLock { $0.waitingAfter = offset }
    }

    /// The offset up to which all partitions of the claim are handled. Nil unless the reader waits.
    var settled: UInt64? {
        // The lock is held for both values: a message that the reader receives now is after the first one.
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

/// The watches of all readers of this process.
struct ClaimWatches: Sendable {
    private var watches: [ObjectIdentifier: ClaimWatch] = [:]

    mutating func add(_ watch: ClaimWatch) { watches[ObjectIdentifier(watch)] = watch }

    mutating func remove(_ watch: ClaimWatch) { watches[ObjectIdentifier(watch)] = nil }

    /// The consumers whose messages are read.
    var consumers: Set<String> { Set(watches.values.map(\.claim.consumer)) }

    /// The readers that wait, each with its claim and the offset up to which everything is handled.
    var waiting: [(claim: ConsumerClaim, settled: UInt64)] {
        watches.values.compactMap { watch in watch.settled.map { (watch.claim, $0) } }
    }

    /// True if a reader of the member has lasted for more than one renewal.
    func hasLasting(_ id: ClaimMember.ID) -> Bool {
        watches.values.contains { ClaimMember.ID($0.claim) == id && $0.hasLasted }
    }

    /// Ends the watches of certain claims.
    func end(where isOver: (ConsumerClaim) -> Bool) {
        for watch in watches.values where isOver(watch.claim) { watch.end() }
    }

    /// Ends the watches whose claims no longer match the group of the consumer.
    /// - Parameter group: Nil if there is none.
    func end(of consumer: String, in group: ConsumerGroup?, epoch: UInt64) {
        end { $0.consumer == consumer && group?.isCurrent($0, in: epoch, mayBeOlder: true) != true }
    }
}
