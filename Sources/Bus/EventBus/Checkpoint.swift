/// How far a durable consumer has come. It counts only while its claim owns the partition.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// The message that was handled: with it all before it in its partition.
    public let position: Position
    /// The partition of that message; nil for progress in all that the claim owns.
    public let partition: Partition?
    /// Up to this offset everything is handled, in all partitions that the claim owns.
    package let settled: UInt64

    /// - Parameter partition: of the message at `position`; needed as soon as partitions are shared.
    public init(claim: ConsumerClaim, position: Position, partition: Partition? = nil) {
        self.init(claim: claim, position: position, partition: partition, settled: position.offset)
    }

    /// Progress up to a message; nil if that was not journalled.
    public init?(claim: ConsumerClaim, handled message: Envelope) {
        guard let position = message.position else { return nil }
        self.init(
            claim: claim, position: position, partition: Partition(subject: message.subject),
            settled: message.settled ?? position.offset)
    }

    private init(claim: ConsumerClaim, position: Position, partition: Partition?, settled: UInt64) {
        self.claim = claim
        self.position = position
        self.partition = partition
        self.settled = settled
    }
}
