/// The progress of a durable consumer. It counts only while its claim owns the partition.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// The position of the message that was handled; everything before it in its partition is handled too.
    public let position: Position
    /// The partition of that message; `nil` for progress in all partitions of the claim.
    public let partition: Partition?
    /// The offset of the message of this partition that was handled before this one, or the offset of the claim if this is the
    /// first one. A bus refuses the checkpoint with `unrecorded` unless that offset is recorded. `nil` if it is not to be
    /// checked.
    public let previous: UInt64?
    /// The offset up to which everything is handled in all partitions of the claim. It must stay below every message that has
    /// been delivered and is not handled.
    public let settled: UInt64

    /// - Parameters:
    ///   - partition: that of the message at `position`; needed when partitions are shared.
    ///   - settled: what the bus said with the message, if it is nil.
    public init(
        claim: ConsumerClaim, position: Position, partition: Partition? = nil, previous: UInt64? = nil,
        settled: UInt64? = nil
    ) {
        self.claim = claim
        self.position = position
        self.partition = partition
        self.previous = previous
        self.settled = settled ?? position.settled
    }

    /// Progress up to a message, for a reader that handles one message after the other; `nil` if the message is not
    /// journalled.
    public init?(claim: ConsumerClaim, handled message: Envelope) {
        guard let position = message.position else { return nil }
        self.init(claim: claim, position: position, partition: message.partition)
    }
}
