package import EventBus

/// What a member of a durable consumer owns. Frames: ownership (owner epoch, epoch, then partition (1) and offset (8) each) |
/// one for each type that was cut off (first, last, count, type).
package struct Claimed: Hashable, Sendable {
    /// 0 when there is nothing, or something that must be claimed first.
    package let ownerEpoch: UInt64
    package let epoch: UInt64
    /// Up to where each partition that is owned is handled.
    package let offsets: [Partition: UInt64]
    /// What retention removed before anybody handled it.
    package let cutOffs: [CutOff]

    package init(ownerEpoch: UInt64, epoch: UInt64, offsets: [Partition: UInt64], cutOffs: [CutOff]) {
        self.ownerEpoch = ownerEpoch
        self.epoch = epoch
        self.offsets = offsets
        self.cutOffs = cutOffs
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "a claim's answer lacks its frame") }
        var reader = ByteReader(first)
        ownerEpoch = try reader.read()
        epoch = try reader.read()
        var offsets: [Partition: UInt64] = [:]
        while !reader.isAtEnd {
            guard let partition = Partition(try reader.read(UInt8.self)) else {
                throw ProtocolError(.malformed, "a partition does not exist")
            }
            offsets[partition] = try reader.read()
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
        writer.write(ownerEpoch)
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
        let (first, last): (UInt64, UInt64) = (try reader.read(), try reader.read())
        let count = Int(clamping: try reader.read(UInt64.self))
        guard first <= last, let type = MessageType(try reader.text()) else {
            throw ProtocolError(.malformed, "what was cut off cannot be read")
        }
        try reader.end()
        return CutOff(type: type, count: count, offsets: first...last)
    }
}
