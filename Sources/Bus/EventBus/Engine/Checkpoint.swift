/// The progress of a durable consumer. The bus accepts it only while its claim owns the partition.
package struct Checkpoint: Hashable, Sendable {
    package let claim: ConsumerClaim
    /// The position of the handled message. All earlier messages of its partition are handled, too.
    package let position: Position
    /// The partition of the handled message; `nil` if the checkpoint applies to all partitions of the claim.
    package let partition: Partition?
    /// The offset of the previous message that was handled in this partition; for the first message, the offset that
    /// the claim gives for the partition. A bus refuses the checkpoint with `unrecorded` unless that offset is
    /// recorded. `nil` if the bus must not check this.
    package let previous: UInt64?
    /// The offset up to which all partitions of the claim are handled. It must be less than the offset of every message
    /// that has been delivered and is not handled.
    package let settled: UInt64

    /// The progress after a message of a partition. See the properties.
    package init(
        claim: ConsumerClaim, position: Position, partition: Partition?, previous: UInt64?, settled: UInt64
    ) {
        self.claim = claim
        self.position = position
        self.partition = partition
        self.previous = previous
        self.settled = settled
    }

    /// The progress after all messages up to a position, in all partitions of the claim.
    package init(claim: ConsumerClaim, upTo position: Position) {
        self.claim = claim
        self.position = position
        partition = nil
        previous = nil
        settled = position.offset
    }

    /// A checkpoint that records no progress: the bus refuses the batch unless the claim still owns the partition. Nil
    /// if the claim does not own it. If the batch is leased, its documents are also published again only while the
    /// claim owns the partition.
    package init?(guarding partition: Partition, of claim: ConsumerClaim) {
        guard let offset = claim.offsets[partition] else { return nil }
        self.init(
            claim: claim, position: Position(epoch: claim.epoch, offset: offset), partition: partition,
            previous: offset, settled: claim.position.offset)
    }

    /// True if the checkpoint records no progress. See ``init(guarding:of:)``.
    package var isGuard: Bool { CheckpointAdmission(self).isGuard }

    /// The progress after a message, for a reader that handles messages one at a time. `nil` if the message is not
    /// recorded in the journal.
    package init?(claim: ConsumerClaim, handled delivery: Delivery) {
        guard let position = delivery.message.position else { return nil }
        self.init(
            claim: claim, position: position, partition: delivery.message.partition, previous: nil,
            settled: delivery.lowWatermark)
    }
}
