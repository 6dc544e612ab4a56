/// Asks for dead letters. Frames: after (8), consumer (text, empty for all).
package struct LettersRequest: Hashable, Sendable {
    /// The id of the last letter that is known; 0 for none.
    package let after: Int64
    package let consumer: String

    package init(after: Int64, consumer: String) {
        self.after = after
        self.consumer = consumer
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "letters has one frame: after, consumer")
        }
        var reader = ByteReader(frame)
        after = Int64(bitPattern: try reader.read())
        consumer = try reader.text()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(UInt64(bitPattern: after))
        writer.write(text: consumer)
        return [writer.bytes]
    }
}
