package import EventBus
internal import Foundation

/// Asks for what a member of a durable consumer owns. Frames: claim (producer, member, flags, consumer).
package struct ClaimRequest: Hashable, Sendable {
    /// Whose falling silent ends the membership.
    package let producer: ProducerID
    package let member: ConsumerMember
    package let consumer: String
    /// Only says that the member lives and asks what it owns; changes nothing.
    package let isRenewal: Bool

    private static let sharedFlag: UInt8 = 1
    private static let renewalFlag: UInt8 = 2

    package init(producer: ProducerID, member: ConsumerMember, consumer: String, isRenewal: Bool = false) {
        self.producer = producer
        self.member = member
        self.consumer = consumer
        self.isRenewal = isRenewal
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
        isRenewal = flags & Self.renewalFlag != 0
        consumer = try reader.consumer()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(bytes: producer.bytes)
        writer.write(bytes: ProducerID(member.id).bytes)
        writer.write((member.mode == .shared ? Self.sharedFlag : 0) | (isRenewal ? Self.renewalFlag : 0))
        writer.write(text: consumer)
        return [writer.bytes]
    }
}
