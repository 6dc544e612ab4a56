package import Foundation
internal import Synchronization

/// An instance of a durable consumer, and the way in which it shares the consumer with other instances.
package struct ConsumerMember: Hashable, Sendable {
    /// The identifier of the instance. A claim that is repeated with the same id does not add another member.
    package let id: UUID
    package let mode: ConsumerMode

    package init(_ mode: ConsumerMode, id: UUID = UUID()) {
        self.id = id
        self.mode = mode
    }

    package static var exclusive: ConsumerMember { ConsumerMember(.exclusive) }
    package static var shared: ConsumerMember { ConsumerMember(.shared) }
}

/// The right to consume some partitions of a durable consumer, until another member takes them over.
package struct ConsumerClaim: Hashable, Sendable {
    package let consumer: String
    package let member: ConsumerMember
    /// A number that is higher for each new owner of a partition. The bus refuses progress of a partition under the
    /// number of an earlier owner.
    package let ownerGeneration: UInt64
    /// The epoch of the journal that the offsets belong to.
    package let epoch: UInt64
    /// The owned partitions, each with the offset up to which it is handled.
    package let offsets: [Partition: UInt64]
    /// The messages that retention removed before the consumer handled them. Later claims repeat them until a
    /// checkpoint is recorded under a claim that reported them; with ZeroMQ, under the last such claim.
    package let cutOffs: [CutOff]

    package init(
        consumer: String, member: ConsumerMember, ownerGeneration: UInt64, epoch: UInt64, offsets: [Partition: UInt64],
        cutOffs: [CutOff] = []
    ) {
        self.consumer = consumer
        self.member = member
        self.ownerGeneration = ownerGeneration
        self.epoch = epoch
        self.offsets = offsets
        self.cutOffs = cutOffs
    }

    /// The position up to which all owned partitions are handled.
    package var position: Position { Position(epoch: epoch, offset: offsets.values.min() ?? 0) }

    /// True if the message belongs to an owned partition and was not handled yet when the claim was made.
    package func covers(_ message: Envelope) -> Bool {
        guard let position = message.position, let handled = offsets[message.partition] else {
            return false
        }
        return position.offset > handled
    }
}

/// Messages of one type that retention removed before a durable consumer handled them.
package struct CutOff: Hashable, Sendable {
    package let type: MessageType
    package let count: Int
    /// The offsets of the first and the last of these messages.
    package let offsets: ClosedRange<UInt64>

    package init(type: MessageType, count: Int, offsets: ClosedRange<UInt64>) {
        self.type = type
        self.count = count
        self.offsets = offsets
    }
}

/// The oldest message that the owner of a claim has received and not finished.
///
/// The owner of the claim sets this value; a bus may read it on another thread.
package final class ConsumerProgress: Sendable {
    private let oldest = Mutex<UInt64?>(nil)

    package init() {}

    /// The offset of the oldest unfinished message; `nil` if all messages that were received are finished.
    package var oldestUnfinished: UInt64? {
        get { oldest.withLock(\.self) }
        set { oldest.withLock { $0 = newValue } }
    }

    /// Returns the offset up to which every message is handled, if every message up to `offset` has been delivered.
    package func settled(delivered offset: UInt64) -> UInt64 {
        oldestUnfinished.map { min($0 - 1, offset) } ?? offset
    }
}
