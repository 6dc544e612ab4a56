/// The durable consumers of a journal. Frames: extent (epoch, head) | one a consumer (name (text), position (8), members (2)).
package struct ConsumerList: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let name: String
        /// The offset up to which everything is handled in all partitions.
        package let position: UInt64
        /// The members that share the consumer.
        package let memberCount: UInt16

        package init(name: String, position: UInt64, memberCount: UInt16) {
            self.name = name
            self.position = position
            self.memberCount = memberCount
        }
    }

    package let epoch: UInt64
    /// The last offset of the journal.
    package let head: UInt64
    /// In alphabetical order.
    package let consumers: [Entry]

    package init(epoch: UInt64, head: UInt64, consumers: [Entry]) {
        self.epoch = epoch
        self.head = head
        self.consumers = consumers
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "consumers lack their extent") }
        var extent = ByteReader(first)
        epoch = try extent.read()
        head = try extent.read()
        try extent.end()
        var consumers: [Entry] = []
        for frame in frames.dropFirst() {
            var reader = ByteReader(frame)
            consumers.append(
                Entry(name: try reader.text(), position: try reader.read(), memberCount: try reader.read()))
            try reader.end()
        }
        self.consumers = consumers
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 16)
        extent.write(epoch)
        extent.write(head)
        return [extent.bytes]
            + consumers.map { consumer in
                var writer = ByteWriter()
                writer.write(text: consumer.name)
                writer.write(consumer.position)
                writer.write(consumer.memberCount)
                return writer.bytes
            }
    }
}
