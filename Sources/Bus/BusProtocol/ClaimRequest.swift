package import EventBus
internal import Foundation

/// Asks for what a member of a durable consumer owns. Frames: claim (producer, member, flags, consumer).
package struct ClaimRequest: Hashable, Sendable {
    /// What for; the number is that of its flag.
    package enum Purpose: UInt8, Sendable {
        /// To own something from now on.
        case claim = 0
        /// Only to say that the member lives and to ask what it owns: it changes nothing.
        case renewal = 2
        /// To own nothing any more, because its process has no use for it: the others get what it has.
        case leave = 4
    }

    /// Whose falling silent ends the membership.
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
            throw ProtocolError(.malformed, "a claim has a flag that is not known")
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
