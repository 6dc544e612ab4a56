public import Foundation
internal import Synchronization

/// The state of a durable consumer on the bus, whether or not a process runs the consumer.
public struct DurableConsumer: Hashable, Sendable {
    public let name: String
    /// The position up to which the consumer has handled all its messages.
    public let position: Position
    /// The end of the journal when the consumer was looked up.
    public let end: Position
    /// The number of members that share the consumer now. An exclusive owner is not counted.
    public let memberCount: Int

    public init(name: String, position: Position, end: Position, memberCount: Int) {
        self.name = name
        self.position = position
        self.end = end
        self.memberCount = memberCount
    }
}

/// An instance of a durable consumer, and the way in which it shares the consumer with other instances.
public struct ConsumerMember: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// The newest instance owns all partitions; the previous one is fenced. The newest instance is the one whose
        /// first claim reached the bus last.
        case exclusive
        /// The instances that are alive share the partitions.
        case shared
    }

    /// The identifier of the instance. A claim that is repeated with the same id does not add another member.
    public let id: UUID
    public let mode: Mode

    public init(_ mode: Mode, id: UUID = UUID()) {
        self.id = id
        self.mode = mode
    }

    public static var exclusive: ConsumerMember { ConsumerMember(.exclusive) }
    public static var shared: ConsumerMember { ConsumerMember(.shared) }
}

/// The right to consume some partitions of a durable consumer, until another member takes them over.
public struct ConsumerClaim: Hashable, Sendable {
    public let consumer: String
    public let member: ConsumerMember
    /// A number that is higher for each new owner of a partition. The bus refuses progress of a partition under the
    /// number of an earlier owner.
    public let ownerEpoch: UInt64
    /// The epoch of the journal that the offsets belong to.
    public let epoch: UInt64
    /// The owned partitions, each with the offset up to which it is handled.
    public let offsets: [Partition: UInt64]
    /// The messages that retention removed before the consumer handled them. Later claims repeat them until a
    /// checkpoint is recorded under a claim that reported them; with ZeroMQ, under the last such claim.
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

    /// The position up to which all owned partitions are handled.
    public var position: Position { Position(epoch: epoch, offset: offsets.values.min() ?? 0) }

    /// True if the message belongs to an owned partition and was not handled yet when the claim was made.
    public func covers(_ message: Envelope) -> Bool {
        guard let position = message.position, let handled = offsets[message.partition] else {
            return false
        }
        return position.offset > handled
    }
}

/// Messages of one type that retention removed before a durable consumer handled them.
public struct CutOff: Hashable, Sendable {
    public let type: MessageType
    public let count: Int
    /// The offsets of the first and the last of these messages.
    public let offsets: ClosedRange<UInt64>

    public init(type: MessageType, count: Int, offsets: ClosedRange<UInt64>) {
        self.type = type
        self.count = count
        self.offsets = offsets
    }
}

/// The progress of a durable consumer. The bus accepts it only while its claim owns the partition.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// The position of the handled message. All earlier messages of its partition are handled, too.
    public let position: Position
    /// The partition of the handled message; `nil` if the checkpoint applies to all partitions of the claim.
    public let partition: Partition?
    /// The offset of the previous message that was handled in this partition; for the first message, the offset that
    /// the claim gives for the partition. A bus refuses the checkpoint with `unrecorded` unless that offset is
    /// recorded. `nil` if the bus must not check this.
    public let previous: UInt64?
    /// The offset up to which all partitions of the claim are handled. It must be less than the offset of every message
    /// that has been delivered and is not handled.
    public let settled: UInt64

    /// - Parameters:
    ///   - partition: The partition of the message at `position`; nil if the checkpoint applies to all partitions of
    ///     the claim.
    ///   - settled: If nil, ``Position/settled`` of `position`.
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

    /// A checkpoint that records no progress: the bus refuses the batch unless the claim still owns the partition. Nil
    /// if the claim does not own it. If the batch is leased, its documents are also published again only while the
    /// claim owns the partition.
    public init?(guarding partition: Partition, of claim: ConsumerClaim) {
        guard let offset = claim.offsets[partition] else { return nil }
        self.init(
            claim: claim, position: Position(epoch: claim.epoch, offset: offset), partition: partition,
            previous: offset, settled: claim.position.offset)
    }

    /// True if the checkpoint records no progress. See ``init(guarding:of:)``.
    package var isGuard: Bool { CheckpointAdmission(self).isGuard }

    /// The progress after a message, for a reader that handles messages one at a time. `nil` if the message is not
    /// recorded in the journal.
    public init?(claim: ConsumerClaim, handled message: Envelope) {
        guard let position = message.position else { return nil }
        self.init(claim: claim, position: position, partition: message.partition)
    }
}

/// The oldest message that the owner of a claim has taken and not finished.
///
/// The owner of the claim sets this value; a bus may read it on another thread.
public final class ConsumerProgress: Sendable {
    private let oldest = Mutex<UInt64?>(nil)

    public init() {}

    /// The offset of the oldest unfinished message; `nil` if all messages that were taken are finished.
    public var oldestUnfinished: UInt64? {
        get { oldest.withLock(\.self) }
        set { oldest.withLock { $0 = newValue } }
    }

    /// Returns the offset up to which every message is handled, if every message up to `offset` has been delivered.
    public func settled(delivered offset: UInt64) -> UInt64 {
        oldestUnfinished.map { min($0 - 1, offset) } ?? offset
    }
}
