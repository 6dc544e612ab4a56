internal import BusProtocol

/// A request that the broker has not answered.
struct PendingRequest {
    var request: Request
    var reply: ReplyHandler
    var resending = Resending()
    /// What the batch makes of leased documents once it is journalled.
    var leases: LeasedDocuments.Change?

    /// What to do with the answer.
    enum ReplyHandler {
        /// Somebody waits; nobody any more, if nil: a batch is sent on, even if its publisher was cancelled, because the
        /// batches behind it count on its sequence.
        case resume(CheckedContinuation<Reply, any Error>?)
        case page(subscriber: Int)
        /// - `judgeNow`: after a reconnection nothing is under way that could still come.
        case heads(subscribers: [Int], judgeNow: Bool)
        /// - `answered`: the last batch that had been answered when the hello was said.
        /// - `leased`: how many leased documents were journalled then.
        /// - `pollsHeads`: whether losses are looked for, which takes the feed some time.
        case welcome(answered: UInt64, leased: Int, pollsHeads: Bool)
        /// What a claim owns now.
        case renewal(subscriber: Int)
        /// Nobody needs to know.
        case ignored
    }

    var isBatch: Bool {
        if case .publish = request { true } else { false }
    }

    /// Whether it records the progress of a durable consumer.
    var hasCheckpoint: Bool {
        if case .publish(let batch) = request { batch.checkpoint != nil } else { false }
    }

    var isQuery: Bool {
        if case .ask = request { true } else { false }
    }
}
