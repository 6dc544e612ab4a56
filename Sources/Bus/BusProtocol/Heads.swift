/// The last offset of every topic that has grown. Frames: extent (epoch, through) | one a topic (offset, name).
package struct Heads: Hashable, Sendable {
    package let epoch: UInt64
    /// The journal's end when this was said.
    package let through: UInt64
    package let offsets: [String: UInt64]

    package init(epoch: UInt64, through: UInt64, offsets: [String: UInt64]) {
        self.epoch = epoch
        self.through = through
        self.offsets = offsets
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "heads lack their extent") }
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.read()
        var offsets: [String: UInt64] = [:]
        for frame in frames.dropFirst() {
            var reader = ByteReader(frame)
            let offset: UInt64 = try reader.read()
            offsets[try reader.text()] = offset
        }
        self.offsets = offsets
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 16)
        extent.write(epoch)
        extent.write(through)
        return [extent.bytes]
            + offsets.map { topic, offset in
                var writer = ByteWriter()
                writer.write(offset)
                writer.write(text: topic)
                return writer.bytes
            }
    }
}
