public import Foundation
internal import Synchronization

/// A durable consumer as the bus keeps it, whether or not a process runs it.
public struct DurableConsumer: Hashable, Sendable {
    public let name: String
    /// Everything that concerns the consumer is handled up to here.
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

    /// The number of offsets between the consumer's position and the end of the journal, whatever the types of the messages
    /// there.
    public var lag: UInt64 { end.offset - min(position.offset, end.offset) }
}

/// One instance of a durable consumer, and how it gets along with others of the same name.
public struct ConsumerMember: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// The newest instance owns everything; the one before is fenced. The newest is the one whose first claim reached
        /// the bus last, also if its process is older.
        case exclusive
        /// The instances that are alive share the partitions.
        case shared
    }

    /// Made once an instance. A claim that is repeated with the same id gets the same answer.
    public let id: UUID
    public let mode: Mode

    public init(_ mode: Mode, id: UUID = UUID()) {
        self.id = id
        self.mode = mode
    }

    public static var exclusive: ConsumerMember { ConsumerMember(.exclusive) }
    public static var shared: ConsumerMember { ConsumerMember(.shared) }
}

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

/// Messages of one type that retention removed before a durable consumer had handled them.
public struct CutOff: Hashable, Sendable {
    public let type: MessageType
    public let count: Int
    /// The offsets between which they stood.
    public let offsets: ClosedRange<UInt64>

    public init(type: MessageType, count: Int, offsets: ClosedRange<UInt64>) {
        self.type = type
        self.count = count
        self.offsets = offsets
    }
}

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

/// The oldest message that the owner of a claim has taken and not finished.
///
/// The owner writes it, and the bus reads it on its own thread: progress that is recorded for all partitions of the claim must
/// stay below this message.
public final class ConsumerProgress: Sendable {
    private let oldest = Mutex<UInt64?>(nil)

    public init() {}

    /// The offset of the oldest unfinished message; `nil` while there is none.
    public var oldestUnfinished: UInt64? {
        get { oldest.withLock(\.self) }
        set { oldest.withLock { $0 = newValue } }
    }

    /// The offset up to which everything is handled when everything up to `offset` has been delivered.
    public func settled(delivered offset: UInt64) -> UInt64 {
        oldestUnfinished.map { min($0 - 1, offset) } ?? offset
    }
}
