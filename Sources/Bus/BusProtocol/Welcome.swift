/// What the broker tells a producer that says hello.
package struct Welcome: Hashable, Sendable {
    package let epoch: UInt64
    /// The last offset of the journal.
    package let head: UInt64
    /// The last sequence that the journal holds of this producer; 0 for none.
    package let sequence: UInt64
    /// Tells the message at `head` from any other that could stand there; 0 when there is none.
    package let mark: UInt64

    package init(epoch: UInt64, head: UInt64, sequence: UInt64, mark: UInt64 = 0) {
        self.epoch = epoch
        self.head = head
        self.sequence = sequence
        self.mark = mark
    }

    init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        self.init(
            epoch: try reader.read(), head: try reader.read(), sequence: try reader.read(), mark: try reader.read())
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.write(epoch)
        writer.write(head)
        writer.write(sequence)
        writer.write(mark)
        return writer.bytes
    }
}
