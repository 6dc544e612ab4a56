/// The rule by which every bus admits a checkpoint. A bus looks up the facts in any order; the reason for a refusal does
/// not depend on that order.
package struct CheckpointAdmission: Hashable, Sendable {
    private let consumer: String
    private let position: Position
    private let settled: UInt64
    private let partition: Partition?
    private let previous: UInt64?

    package init(
        consumer: String, position: Position, settled: UInt64, partition: Partition?, previous: UInt64?
    ) {
        self.consumer = consumer
        self.position = position
        self.settled = settled
        self.partition = partition
        self.previous = previous
    }

    package init(_ checkpoint: Checkpoint) {
        self.init(
            consumer: checkpoint.claim.consumer, position: checkpoint.position, settled: checkpoint.settled,
            partition: checkpoint.partition, previous: checkpoint.previous)
    }

    /// True if the checkpoint records no progress: see ``Checkpoint/init(guarding:of:)``.
    package static func isGuard(partition: Partition?, previous: UInt64?, offset: UInt64) -> Bool {
        partition != nil && previous == offset
    }

    /// The offset that the journal must have reached. Beyond the end of the journal, messages that are published later
    /// would count as handled.
    package var reach: UInt64 { max(position.offset, settled) }

    /// Checks that the checkpoint is one of a journal.
    /// - Parameter end: The end of the journal, or a position of it that is not before ``reach``.
    /// - Throws: ``LedgerRefusal`` with the reason `epoch`.
    private func requireReached(_ end: Position) throws(LedgerRefusal) {
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
        let isGuard = Self.isGuard(partition: partition, previous: previous, offset: position.offset)
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
}
