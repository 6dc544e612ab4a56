package import EventBus

/// The progress of a durable consumer, journalled with what it published.
/// As bytes: consumer (text) | owner epoch, epoch, offset, settled (8 each) | partition (1), ff for all that is owned | previous
/// (8), if it is to be checked.
package struct CheckpointFrame: Hashable, Sendable {
    package let consumer: String
    /// What the claim was given; an older one is fenced.
    package let ownerEpoch: UInt64
    package let epoch: UInt64
    package let offset: UInt64
    /// Up to here everything is handled, in all partitions that are owned.
    package let settled: UInt64
    /// Of the message at the offset.
    package let partition: Partition?
    /// The offset that must be recorded for the partition already; nil if that is not to be checked.
    package let previous: UInt64?

    private static let allPartitions: UInt8 = 0xff

    package init(
        consumer: String, ownerEpoch: UInt64, epoch: UInt64, offset: UInt64, settled: UInt64, partition: Partition?,
        previous: UInt64? = nil
    ) {
        self.consumer = consumer
        self.ownerEpoch = ownerEpoch
        self.epoch = epoch
        self.offset = offset
        self.settled = settled
        self.partition = partition
        self.previous = previous
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        consumer = try reader.consumer()
        ownerEpoch = try reader.read()
        epoch = try reader.read()
        offset = try reader.read()
        settled = try reader.read()
        let number: UInt8 = try reader.read()
        partition = Partition(number)
        guard partition != nil || number == Self.allPartitions else {
            throw ProtocolError(.malformed, "partition \(number) does not exist")
        }
        previous = reader.isAtEnd ? nil : try reader.read()
        try reader.end()
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(text: consumer)
        writer.write(ownerEpoch)
        writer.write(epoch)
        writer.write(offset)
        writer.write(settled)
        writer.write(partition?.number ?? Self.allPartitions)
        if let previous { writer.write(previous) }
        return writer.bytes
    }
}
