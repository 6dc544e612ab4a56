/// A journalled message as it travels on the feed and in pages: topic | position | header | data.
package struct FeedMessage: Hashable, Sendable {
    package let topic: String
    package let epoch: UInt64
    package let offset: UInt64
    /// The offset of the message before it on the same topic; 0 for the first. A receiver that lacks it has lost something.
    package let previous: UInt64
    /// The CloudEvents attributes as JSON.
    package let header: [UInt8]
    /// JSON, or empty for a document that no longer exists.
    package let data: [UInt8]

    package init(topic: String, epoch: UInt64, offset: UInt64, previous: UInt64, header: [UInt8], data: [UInt8]) {
        self.topic = topic
        self.epoch = epoch
        self.offset = offset
        self.previous = previous
        self.header = header
        self.data = data
    }

    package static let frameCount = 4

    package init(frames: some RandomAccessCollection<[UInt8]>) throws(ProtocolError) {
        let frames = Array(frames)
        guard frames.count == Self.frameCount, let topic = String(validating: frames[0], as: UTF8.self) else {
            throw ProtocolError(.malformed, "a message has four frames: topic, position, header, data")
        }
        var position = ByteReader(frames[1])
        self.init(
            topic: topic, epoch: try position.read(), offset: try position.read(), previous: try position.read(),
            header: frames[2], data: frames[3])
        try position.end()
    }

    package var frames: [[UInt8]] {
        var position = ByteWriter(capacity: 24)
        position.write(epoch)
        position.write(offset)
        position.write(previous)
        return [Array(topic.utf8), position.bytes, header, data]
    }
}
