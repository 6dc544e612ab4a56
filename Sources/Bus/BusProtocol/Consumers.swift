package import BusFormat
package import EventBus
internal import Foundation

/// A request of a member of a durable consumer to own partitions, to remain a member, or to leave. Frames: claim
/// (producer, member, flags, consumer).
package struct ClaimRequest: Hashable, Sendable {
    /// The purpose of the request. The raw value is its flag in the frame.
    package enum Purpose: UInt8, Sendable {
        /// The member asks for partitions.
        case claim = 0
        /// The member reports that it is alive, and asks for the list of its partitions. No partition changes its
        /// owner.
        case renewal = 2
        /// The member stops handling messages. The partitions of a shared member go to the other members, if there are
        /// any. An exclusive member keeps its partitions until another member claims.
        case leave = 4
    }

    /// The producer of the member's process. When this producer falls silent, the membership of a shared member ends.
    package let producer: ProducerID
    package let member: ConsumerMember
    package let consumer: String
    package let purpose: Purpose

    private static let sharedFlag: UInt8 = 1

    package init(producer: ProducerID, member: ConsumerMember, consumer: String, purpose: Purpose = .claim) {
        self.producer = producer
        self.member = member
        self.consumer = consumer
        self.purpose = purpose
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "claim has one frame: producer, member, flags, consumer")
        }
        var reader = ByteReader(frame)
        producer = try ProducerID(&reader)
        let id = try ProducerID(&reader).uuid
        let flags: UInt8 = try reader.read()
        member = ConsumerMember(flags & Self.sharedFlag == 0 ? .exclusive : .shared, id: id)
        guard let purpose = Purpose(rawValue: flags & ~Self.sharedFlag) else {
            throw ProtocolError(.malformed, "a claim has an unknown flag")
        }
        self.purpose = purpose
        consumer = try reader.consumer()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(bytes: producer.bytes)
        writer.write(bytes: ProducerID(member.id).bytes)
        writer.write((member.mode == .shared ? Self.sharedFlag : 0) | purpose.rawValue)
        writer.write(text: consumer)
        return [writer.bytes]
    }
}

/// The reply to a claim. Frames: ownership (owner generation, epoch, then partition (1) and offset (8) of each owned
/// partition) | one for each type of messages that retention removed before they were handled (first, last, count,
/// type).
package struct Claimed: Hashable, Sendable {
    /// The owner generation of the member's partitions; 0 if the member owns none, or must claim before it can handle
    /// them.
    package let ownerGeneration: UInt64
    package let epoch: UInt64
    /// The offset up to which each owned partition is handled.
    package let offsets: [Partition: UInt64]
    /// The messages that retention removed before the consumer had handled them. Only the reply to a `claim` names
    /// them; otherwise empty.
    package let cutOffs: [CutOff]

    package init(ownerGeneration: UInt64, epoch: UInt64, offsets: [Partition: UInt64], cutOffs: [CutOff]) {
        self.ownerGeneration = ownerGeneration
        self.epoch = epoch
        self.offsets = offsets
        self.cutOffs = cutOffs
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else {
            throw ProtocolError(.malformed, "the reply to claim lacks its frame 'ownership'")
        }
        var reader = ByteReader(first)
        ownerGeneration = try reader.number()
        epoch = try reader.read()
        var offsets: [Partition: UInt64] = [:]
        while !reader.isAtEnd {
            guard let partition = Partition(try reader.read(UInt8.self)) else {
                throw ProtocolError(.malformed, "the reply to claim names a partition that does not exist")
            }
            offsets[partition] = try reader.number()
        }
        self.offsets = offsets
        var cutOffs: [CutOff] = []
        for frame in frames.dropFirst() {
            cutOffs.append(try Self.cutOff(frame))
        }
        self.cutOffs = cutOffs
    }

    var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: 16 + offsets.count * 9)
        writer.write(ownerGeneration)
        writer.write(epoch)
        for (partition, offset) in offsets.sorted(by: { $0.key < $1.key }) {
            writer.write(partition.number)
            writer.write(offset)
        }
        return [writer.bytes]
            + cutOffs.map { cutOff in
                var writer = ByteWriter()
                writer.write(cutOff.offsets.lowerBound)
                writer.write(cutOff.offsets.upperBound)
                writer.write(UInt64(clamping: cutOff.count))
                writer.write(text: cutOff.type.description)
                return writer.bytes
            }
    }

    private static func cutOff(_ frame: [UInt8]) throws(ProtocolError) -> CutOff {
        var reader = ByteReader(frame)
        let (first, last): (UInt64, UInt64) = (try reader.number(), try reader.number())
        let count = Int(clamping: try reader.number())
        guard first <= last, let type = MessageType(try reader.text()) else {
            throw ProtocolError(.malformed, "the reply to claim has an invalid cut-off")
        }
        try reader.end()
        return CutOff(type: type, count: count, offsets: first...last)
    }
}

/// The durable consumers of a journal. Frames: extent (epoch, head) | one for each consumer (name (text), position (8),
/// members (2)).
package struct ConsumerList: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let name: String
        /// The offset up to which all partitions are handled.
        package let position: UInt64
        /// The number of shared members.
        package let memberCount: UInt16

        package init(name: String, position: UInt64, memberCount: UInt16) {
            self.name = name
            self.position = position
            self.memberCount = memberCount
        }
    }

    package let epoch: UInt64
    /// The last offset of the journal.
    package let head: UInt64
    /// The consumers, sorted by name.
    package let consumers: [Entry]

    package init(epoch: UInt64, head: UInt64, consumers: [Entry]) {
        self.epoch = epoch
        self.head = head
        self.consumers = consumers
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else {
            throw ProtocolError(.malformed, "the reply to consumers lacks its frame 'extent'")
        }
        var extent = ByteReader(first)
        epoch = try extent.read()
        head = try extent.number()
        try extent.end()
        var consumers: [Entry] = []
        for frame in frames.dropFirst() {
            var reader = ByteReader(frame)
            consumers.append(
                Entry(name: try reader.text(), position: try reader.number(), memberCount: try reader.read()))
            try reader.end()
        }
        self.consumers = consumers
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 16)
        extent.write(epoch)
        extent.write(head)
        return [extent.bytes]
            + consumers.map { consumer in
                var writer = ByteWriter()
                writer.write(text: consumer.name)
                writer.write(consumer.position)
                writer.write(consumer.memberCount)
                return writer.bytes
            }
    }
}
