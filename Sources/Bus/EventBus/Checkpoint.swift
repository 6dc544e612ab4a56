/// How far a durable consumer has come. It counts only while its claim owns the partition.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// The message that was handled. Everything before it that the claim covers is handled too.
    public let position: Position
    /// The partition of that message; nil for progress in all that the claim owns.
    public let partition: Partition?

    /// - Parameter partition: of the message at `position`; needed as soon as partitions are shared.
    public init(claim: ConsumerClaim, position: Position, partition: Partition? = nil) {
        self.claim = claim
        self.position = position
        self.partition = partition
    }
}
