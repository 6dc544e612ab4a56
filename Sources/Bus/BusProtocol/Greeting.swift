/// Who says hello or bye, and what it has seen of the journal. Frames: producer (16), epoch (8), offset (8).
package struct Greeting: Hashable, Sendable {
    package let producer: ProducerID
    /// 0 while it has seen nothing.
    package let epoch: UInt64
    /// The highest offset that it has seen. A journal of this epoch that ends before it has lost its end.
    package let offset: UInt64

    package init(producer: ProducerID, epoch: UInt64 = 0, offset: UInt64 = 0) {
        self.producer = producer
        self.epoch = epoch
        self.offset = offset
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: producer, epoch, offset")
        }
        var reader = ByteReader(frame)
        producer = try ProducerID(&reader)
        epoch = try reader.read()
        offset = try reader.read()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: 32)
        writer.write(bytes: producer.bytes)
        writer.write(epoch)
        writer.write(offset)
        return [writer.bytes]
    }
}
