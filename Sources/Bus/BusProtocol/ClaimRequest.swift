/// Asks for a durable consumer. Frames: claim (token, consumer).
package struct ClaimRequest: Hashable, Sendable {
    /// Made once a claim: the same token gets the same answer, so that a claim may be sent again.
    package let token: ProducerID
    package let consumer: String

    package init(token: ProducerID, consumer: String) {
        self.token = token
        self.consumer = consumer
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "claim has one frame: token and consumer")
        }
        var reader = ByteReader(frame)
        self.init(token: try ProducerID(&reader), consumer: try reader.text())
        try reader.end()
        guard !consumer.isEmpty, consumer.utf8.count <= Limits.nameLength else {
            throw ProtocolError(.tooLarge, "a consumer's name has 1 to \(Limits.nameLength) bytes")
        }
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(bytes: token.bytes)
        writer.write(text: consumer)
        return [writer.bytes]
    }
}
