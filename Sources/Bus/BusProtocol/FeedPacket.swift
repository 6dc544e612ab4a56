internal import EventBus

/// Messages of one topic that travel on the feed together: topic | epoch, then for each message offset, previous, previous in
/// partition, header, data (blobs). A frame costs libzmq as much as the bytes of several messages do.
package struct FeedPacket {
    /// Beyond it a packet ends: the queue of a subscriber that does not read is bounded in packets, and so in bytes.
    private static let size = Limits.feedSize

    package let topic: String
    package let epoch: UInt64
    private var writer: ByteWriter

    package init(topic: String, epoch: UInt64) {
        self.topic = topic
        self.epoch = epoch
        writer = ByteWriter(capacity: 512)
        writer.write(epoch)
    }

    /// Adds a message, if it belongs here and fits. The first one always does.
    /// - Returns: whether it did.
    package mutating func add(_ message: FeedMessage) -> Bool {
        let isAnnounced = message.isTooLargeForFeed
        let count = isAnnounced ? 0 : message.header.count + message.data.count
        if !isEmpty {
            guard writer.bytes.count + count <= Self.size, message.topic == topic, message.epoch == epoch else {
                return false
            }
        }
        writer.write(message.offset)
        writer.write(message.previous)
        writer.write(message.previousInPartition)
        writer.write(blob: isAnnounced ? [] : message.header)
        writer.write(blob: isAnnounced ? [] : message.data)
        return true
    }

    package var body: [UInt8] { writer.bytes }

    package var frames: [[UInt8]] { [Array(topic.utf8), body] }

    private var isEmpty: Bool { writer.bytes.count == MemoryLayout<UInt64>.size }

    /// The messages of a packet that has come.
    package static func messages(_ frames: [[UInt8]]) throws(ProtocolError) -> [FeedMessage] {
        guard frames.count == 2, let topic = String(validating: frames[0], as: UTF8.self) else {
            throw ProtocolError(.malformed, "a packet has two frames: topic and messages")
        }
        var reader = ByteReader(frames[1])
        let epoch: UInt64 = try reader.read()
        var messages: [FeedMessage] = []
        repeat {
            messages.append(
                FeedMessage(
                    topic: topic, epoch: epoch, offset: try reader.read(), previous: try reader.read(),
                    previousInPartition: try reader.read(), header: try reader.blob(), data: try reader.blob()))
        } while !reader.isAtEnd
        return messages
    }
}

extension [FeedMessage] {
    /// As few packets as keep the order.
    package func forEachPacket(_ body: (FeedPacket) throws -> Void) rethrows {
        guard let first else { return }
        var packet = FeedPacket(topic: first.topic, epoch: first.epoch)
        for message in self where !packet.add(message) {
            try body(packet)
            packet = FeedPacket(topic: message.topic, epoch: message.epoch)
            _ = packet.add(message)
        }
        try body(packet)
    }
}
