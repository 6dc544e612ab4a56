/// Who says hello or bye, and what it has seen of the journal.
/// Frames: producer (16), epoch (8), offset (8), head (8), mark (8), and in a long one: more (1).
package struct Greeting: Hashable, Sendable {
    package let producer: ProducerID
    /// 0 while it has seen nothing.
    package let epoch: UInt64
    /// The highest offset that it has seen. The broker does not believe it: the client compares it with the answer.
    package let offset: UInt64
    /// What the last ``Welcome`` of this epoch said. A journal that ends before it, or has another message there, has lost its
    /// end.
    package let head: UInt64
    package let mark: UInt64
    /// Whether it asks for ``Welcome/more``. Brokers and clients of before know only the short form.
    package let asksForMore: Bool

    package init(
        producer: ProducerID, epoch: UInt64 = 0, offset: UInt64 = 0, head: UInt64 = 0, mark: UInt64 = 0,
        asksForMore: Bool = false
    ) {
        self.producer = producer
        self.epoch = epoch
        self.offset = offset
        self.head = head
        self.mark = mark
        self.asksForMore = asksForMore
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
        asksForMore = !reader.isAtEnd
        if asksForMore, try reader.read(UInt8.self) == 0 {
            throw ProtocolError(.malformed, "a hello that asks for more says so with 1")
        }
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: 49)
        writer.write(bytes: producer.bytes)
        writer.write(epoch)
        writer.write(offset)
        writer.write(head)
        writer.write(mark)
        if asksForMore { writer.write(UInt8(1)) }
        return [writer.bytes]
    }
}
