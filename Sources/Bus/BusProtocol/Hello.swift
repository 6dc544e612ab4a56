package import BusFormat
import Foundation

/// The content of the requests hello and bye: the producer, and the part of the journal that it has seen. Frame:
/// producer (16), epoch (8), offset (8), head (8), mark (8), and in the long form one more byte, 1.
package struct Greeting: Hashable, Sendable {
    package let producer: ProducerID
    /// The epoch of the journal that the producer has seen; 0 if it has not seen a journal yet.
    package let epoch: UInt64
    /// The highest offset that the producer has seen. The broker cannot verify this offset and does not use it. The
    /// client compares it with the reply.
    package let offset: UInt64
    /// The head of the last ``Welcome`` of this epoch; 0 if there is none.
    package let head: UInt64
    /// The mark of the last ``Welcome`` of this epoch; 0 if there is none.
    package let mark: UInt64
    /// True for the long form, which asks for ``Welcome/more``.
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
            throw ProtocolError(.malformed, "hello and bye have one frame: producer, epoch, offset, head, mark")
        }
        var reader = ByteReader(frame)
        producer = try ProducerID(&reader)
        epoch = try reader.read()
        offset = try reader.read()
        head = try reader.read()
        mark = try reader.read()
        asksForMore = !reader.isAtEnd
        if asksForMore, try !reader.flag() {
            throw ProtocolError(.malformed, "the last byte of a long hello must be 1")
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

/// The reply to hello and bye.
package struct Welcome: Hashable, Sendable {
    package let epoch: UInt64
    /// The last offset of the journal.
    package let head: UInt64
    /// The sequence of this producer's last batch that the journal knows; 0 if it knows no batch of this producer.
    package let sequence: UInt64
    /// A proof of the message at `head`, which the client returns with its next hello; 0 if the journal is empty.
    package let mark: UInt64
    /// Nil unless the hello asked for it.
    package let more: More?

    /// The additional fields of the reply to a long hello.
    package struct More: Hashable, Sendable {
        /// The offset after which the messages of this epoch begin.
        package let start: UInt64
        /// The number of retained documents that this producer leases.
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
        let (epoch, head): (UInt64, UInt64) = (try reader.read(), try reader.number())
        let (sequence, mark): (UInt64, UInt64) = (try reader.number(), try reader.read())
        let more = reader.isAtEnd ? nil : More(start: try reader.number(), leased: try reader.number())
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
