/// The right to consume partitions under a durable name, until another member takes them over.
public struct ConsumerClaim: Hashable, Sendable {
    public let consumer: String
    public let member: ConsumerMember
    /// Grows with every claim of this name that changes something. Progress recorded under an older one is refused.
    public let ownerEpoch: UInt64
    /// The journal that the offsets belong to.
    public let epoch: UInt64
    /// The partitions that are owned, each with the offset up to which it is handled.
    public let offsets: [Partition: UInt64]
    /// What retention removed before anybody handled it; empty once a checkpoint of this claim has been recorded.
    public let cutOffs: [CutOff]

    public init(
        consumer: String, member: ConsumerMember, ownerEpoch: UInt64, epoch: UInt64, offsets: [Partition: UInt64],
        cutOffs: [CutOff] = []
    ) {
        self.consumer = consumer
        self.member = member
        self.ownerEpoch = ownerEpoch
        self.epoch = epoch
        self.offsets = offsets
        self.cutOffs = cutOffs
    }

    /// Up to here everything that is owned is handled.
    public var position: Position { Position(epoch: epoch, offset: offsets.values.min() ?? 0) }

    /// Whether the owner of this claim has yet to handle a message.
    public func covers(_ message: Envelope) -> Bool {
        guard let position = message.position, let handled = offsets[message.partition] else {
            return false
        }
        return position.offset > handled
    }
}
