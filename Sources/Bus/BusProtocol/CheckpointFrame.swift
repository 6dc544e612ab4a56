/// The progress of a durable consumer, journalled with what it published.
package struct CheckpointFrame: Hashable, Sendable {
    package let consumer: String
    /// What the claim was given; an older one is fenced.
    package let ownerEpoch: UInt64
    package let epoch: UInt64
    package let offset: UInt64

    package init(consumer: String, ownerEpoch: UInt64, epoch: UInt64, offset: UInt64) {
        self.consumer = consumer
        self.ownerEpoch = ownerEpoch
        self.epoch = epoch
        self.offset = offset
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        self.init(
            consumer: try reader.text(), ownerEpoch: try reader.read(), epoch: try reader.read(),
            offset: try reader.read())
        try reader.end()
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(text: consumer)
        writer.write(ownerEpoch)
        writer.write(epoch)
        writer.write(offset)
        return writer.bytes
    }
}
