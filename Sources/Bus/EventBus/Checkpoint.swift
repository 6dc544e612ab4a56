/// How far a durable consumer has come. It counts only while its claim owns the partition.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// The message that was handled: with it all before it in its partition.
    public let position: Position
    /// The partition of that message; nil for progress in all that the claim owns.
    public let partition: Partition?

    /// - Parameter partition: of the message at `position`; needed as soon as partitions are shared.
    public init(claim: ConsumerClaim, position: Position, partition: Partition? = nil) {
        self.claim = claim
        self.position = position
        self.partition = partition
    }

    /// Progress up to a message; nil if that was not journalled.
    public init?(claim: ConsumerClaim, handled message: Envelope) {
        guard let position = message.position else { return nil }
        self.init(claim: claim, position: position, partition: message.partition)
    }
}
