/// Who says hello or bye, and what it has seen of the journal.
/// Frames: producer (16), epoch (8), offset (8), head (8), mark (8).
package struct Greeting: Hashable, Sendable {
    package let producer: ProducerID
    /// 0 while it has seen nothing.
    package let epoch: UInt64
    /// The highest offset that it has seen. A journal of this epoch that ends before it has lost its end.
    package let offset: UInt64
    /// What the last ``Welcome`` of this epoch said. A journal in which another message stands there was put back.
    package let head: UInt64
    package let mark: UInt64

    package init(
        producer: ProducerID, epoch: UInt64 = 0, offset: UInt64 = 0, head: UInt64 = 0, mark: UInt64 = 0
    ) {
        self.producer = producer
        self.epoch = epoch
        self.offset = offset
        self.head = head
        self.mark = mark
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: producer, epoch, offset, head, mark")
        }
        var reader = ByteReader(frame)
        producer = try ProducerID(&reader)
        epoch = try reader.read()
        offset = try reader.read()
        head = try reader.read()
        mark = try reader.read()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: 48)
        writer.write(bytes: producer.bytes)
        writer.write(epoch)
        writer.write(offset)
        writer.write(head)
        writer.write(mark)
        return [writer.bytes]
    }
}
