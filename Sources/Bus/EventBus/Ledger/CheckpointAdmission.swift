/// The rule by which every bus admits a checkpoint. A bus looks up the facts in any order; the reason for a refusal
/// does not depend on that order.
package struct CheckpointAdmission: Hashable, Sendable {
    private let consumer: String
    fileprivate let ownerGeneration: UInt64
    /// The epoch of the journal in which the claim was made.
    private let claimGeneration: UInt64
    fileprivate let position: Position
    fileprivate let settled: UInt64
    fileprivate let partition: Partition?
    private let previous: UInt64?

    package init(_ checkpoint: Checkpoint) {
        let claim = checkpoint.claim
        (consumer, ownerGeneration, claimGeneration) = (claim.consumer, claim.ownerGeneration, claim.epoch)
        (position, settled) = (checkpoint.position, checkpoint.settled)
        (partition, previous) = (checkpoint.partition, checkpoint.previous)
    }

    /// A checkpoint of a client that has called ``requireOneEpoch()`` itself.
    package init(
        consumer: String, ownerGeneration: UInt64, position: Position, settled: UInt64, partition: Partition?,
        previous: UInt64?
    ) {
        (self.consumer, self.ownerGeneration, claimGeneration) = (consumer, ownerGeneration, position.epoch)
        (self.position, self.settled) = (position, settled)
        (self.partition, self.previous) = (partition, previous)
    }

    /// True if the checkpoint records no progress: see ``Checkpoint/init(guarding:of:)``.
    package var isGuard: Bool { partition != nil && previous == position.offset }

    /// The offset that the journal must have reached. Beyond the end of the journal, messages that are published later
    /// would count as handled.
    package var reach: UInt64 { max(position.offset, settled) }

    /// Checks that the claim was made in the epoch of the position: in another one, its owner generation can be that of
    /// another claim.
    /// - Throws: ``LedgerRefusal`` with the reason `epoch`.
    package func requireOneEpoch() throws(LedgerRefusal) {
        guard claimGeneration == position.epoch else {
            throw LedgerRefusal(.epoch, "the claim of the durable consumer '\(consumer)' is for another journal")
        }
    }

    /// Checks that the checkpoint is one of a journal.
    /// - Parameter end: The end of the journal, or a position of it that is not before ``reach``.
    /// - Throws: ``LedgerRefusal`` with the reason `epoch`.
    private func requireReached(_ end: Position) throws(LedgerRefusal) {
        try requireOneEpoch()
        guard position.epoch == end.epoch, reach <= end.offset else {
            throw LedgerRefusal(
                .epoch,
                "the checkpoint of the durable consumer '\(consumer)' is for another journal, or beyond the end of "
                    + "this one")
        }
    }

    /// Checks whether the checkpoint can be recorded.
    /// - Parameters:
    ///   - end: See ``requireReached(_:)``.
    ///   - handled: The offset up to which the partition of the checkpoint is handled; 0 if it has none. Nil if the
    ///     claim does not own the partition.
    /// - Returns: True if the message of the checkpoint is handled already, so that the batch is a repeat.
    /// - Throws: ``LedgerRefusal`` with the reason `epoch`, `fenced` or `unrecorded`. They are checked in this
    ///   order, and before the result.
    package func isHandled(end: Position, handled: UInt64?) throws(LedgerRefusal) -> Bool {
        try requireReached(end)
        guard let handled else { throw LedgerRefusal(takenOver: consumer) }
        guard partition != nil, !isGuard else { return false }
        if handled >= position.offset { return true }
        // The previous checkpoint of the partition is missing. If this one were recorded, the message of the previous
        // one would count as handled.
        if let previous, handled < previous {
            throw LedgerRefusal(
                .unrecorded, "the previous checkpoint, at offset \(previous), is not recorded")
        }
        return false
    }

    /// Does the same for a consumer whose progress is in its group.
    /// - Parameter group: Nil if there is no such consumer.
    package func isHandled(end: Position, in group: ConsumerGroup?) throws(LedgerRefusal) -> Bool {
        try isHandled(end: end, handled: group?.handled(partition, under: ownerGeneration))
    }
}

extension ConsumerGroup {
    /// Records the progress of a checkpoint that was admitted.
    /// - Returns: False if there is none: the checkpoint is a guard, or the partition is not owned.
    package mutating func record(_ checkpoint: CheckpointAdmission) -> Bool {
        !checkpoint.isGuard
            && record(
                checkpoint.position.offset, partition: checkpoint.partition, settled: checkpoint.settled,
                ownerGeneration: checkpoint.ownerGeneration)
    }
}
