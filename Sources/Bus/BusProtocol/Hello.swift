import Foundation

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

/// What the broker tells a producer that says hello.
package struct Welcome: Hashable, Sendable {
    package let epoch: UInt64
    /// The last offset of the journal.
    package let head: UInt64
    /// The last sequence that the journal holds of this producer; 0 for none.
    package let sequence: UInt64
    /// The broker's own: proves that the journal had this message at `head`. 0 when there is none.
    package let mark: UInt64
    /// Nil unless the hello asked for it.
    package let more: More?

    /// What only a long hello is told.
    package struct More: Hashable, Sendable {
        /// The offset at which the epoch began: messages after it were journalled in this epoch.
        package let start: UInt64
        /// How many documents the journal holds as leased by this producer.
        package let leased: UInt64

        package init(start: UInt64, leased: UInt64) {
            self.start = start
            self.leased = leased
        }
    }

    package init(epoch: UInt64, head: UInt64, sequence: UInt64, mark: UInt64 = 0, more: More? = nil) {
        self.epoch = epoch
        self.head = head
        self.sequence = sequence
        self.mark = mark
        self.more = more
    }

    init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        let (epoch, head): (UInt64, UInt64) = (try reader.read(), try reader.read())
        let (sequence, mark): (UInt64, UInt64) = (try reader.read(), try reader.read())
        let more = reader.isAtEnd ? nil : More(start: try reader.read(), leased: try reader.read())
        self.init(epoch: epoch, head: head, sequence: sequence, mark: mark, more: more)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.write(epoch)
        writer.write(head)
        writer.write(sequence)
        writer.write(mark)
        if let more {
            writer.write(more.start)
            writer.write(more.leased)
        }
        return writer.bytes
    }
}
