internal import EventBus
internal import NATSLayout

/// What a client has seen of the journal in its present epoch, as a value without side effects.
///
/// A sequence says nothing in another epoch: the stream may never reach it, or have another message there. So every
/// sequence is recorded together with its epoch, and that of an earlier epoch is ignored.
struct SeenJournal: Sendable {
    /// The number of epochs that are remembered after this client has left them.
    private static let leftCount = 32

    /// Nil until the stream has been found.
    private(set) var epoch: UInt64?
    /// The highest sequence of a batch; 0 for none.
    private(set) var batch: UInt64 = 0
    /// The last message that this client has received or published.
    private(set) var last: SeenMessage?
    /// The highest sequence of a fence that this client has stored; 0 for none.
    private var fence: UInt64 = 0
    /// The epochs that this client has left. A stream that has one of them again was replaced by an older copy.
    private var left: [UInt64] = []

    /// The position of the last batch.
    var end: Position { Position(epoch: epoch ?? 0, offset: StreamPosition.end(of: batch)) }

    /// The sequence up to which a reader must read to get everything that was published before. Results of earlier
    /// owners of this client's partitions are before its fences, even if the server that answers lags behind.
    var lastToRead: UInt64 { max(batch, fence) }

    /// Follows the journal to an epoch.
    /// - Returns: True if it replaced another one.
    mutating func follow(_ new: UInt64) -> Bool {
        guard new != epoch else { return false }
        let former = epoch
        (epoch, batch, last, fence) = (new, 0, nil, 0)
        if let former { left = (left + [former]).suffix(Self.leftCount) }
        return former != nil
    }

    /// False if a stream lacks what this client has seen.
    /// - Parameters:
    ///   - epoch: The epoch of the stream.
    ///   - lastSequence: The last sequence of the stream.
    ///   - asked: This value when the stream was asked. The answer need not have what has come since then.
    func isIncluded(in epoch: UInt64, upTo lastSequence: UInt64, asked: SeenJournal) -> Bool {
        !left.contains(epoch) && (epoch != asked.epoch || asked.lastToRead <= lastSequence)
    }

    /// Records the sequence of a batch.
    /// - Parameter time: The time at which the leader has stored it; nil if it is not known.
    mutating func see(_ sequence: UInt64, at time: Int64?, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        batch = max(batch, sequence)
        if let time { see(SeenMessage(sequence: sequence, time: time)) }
    }

    /// Records a message that this client has published: a batch, or the record of progress.
    mutating func see(published message: SeenMessage, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        see(message)
    }

    private mutating func see(_ message: SeenMessage) {
        if message.sequence > last?.sequence ?? 0 { last = message }
    }

    /// Records the sequence of a fence that this client has stored.
    mutating func see(fence sequence: UInt64, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        fence = max(fence, sequence)
    }
}
