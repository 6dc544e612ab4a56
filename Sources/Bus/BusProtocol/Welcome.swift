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
