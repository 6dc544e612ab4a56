package import BusFormat
package import EventBus

/// A message as it is sent on the feed (``FeedPacket``) and in pages. In a page its bytes are: topic (text), offset,
/// previous, header, data (blobs).
package struct FeedMessage: Hashable, Sendable {
    package let topic: String
    package let epoch: UInt64
    /// 0 for a transient message: the journal does not record it.
    package let offset: UInt64
    /// The offset of the preceding message on the same topic; 0 for the first one, for a transient message and in a
    /// dead letter. With it a subscriber of the topic detects that the feed has dropped a message.
    package let previous: UInt64
    /// The offset of the preceding message in the same partition, whatever its type; 0 for the first one and for a
    /// transient message. Pages do not contain this offset.
    package let previousInPartition: UInt64
    /// The CloudEvents attributes as JSON; empty in an announcement, see ``isAnnouncement``.
    package let header: Bytes
    /// JSON; empty in an announcement and in the withdrawal of a document.
    package let data: Bytes
    /// Nil on a bus without keys. It is not beside the other fields, but in a frame of its own: see ``Origins``.
    package let origin: VerifiedOrigin?

    package init(
        topic: String, epoch: UInt64, offset: UInt64, previous: UInt64, previousInPartition: UInt64 = 0, header: Bytes,
        data: Bytes, origin: VerifiedOrigin? = nil
    ) {
        self.topic = topic
        self.epoch = epoch
        self.offset = offset
        self.previous = previous
        self.previousInPartition = previousInPartition
        self.header = header
        self.data = data
        self.origin = origin
    }

    package init(page reader: inout ByteReader, epoch: UInt64, _ origins: inout Origins) throws(ProtocolError) {
        self.init(
            topic: try reader.text(), epoch: epoch, offset: try reader.number(), previous: try reader.number(),
            header: try reader.blob(), data: try reader.blob(), origin: try origins.next())
    }

    package func write(page writer: inout ByteWriter) {
        writer.write(text: topic)
        writer.write(offset)
        writer.write(previous)
        writer.write(blob: header)
        writer.write(blob: data)
    }

    /// True for a recorded message if header and data together exceed ``Limits/feedSize``. The feed then carries only
    /// the topic and the offsets, and subscribers read the message from the journal.
    fileprivate var isTooLargeForFeed: Bool { offset > 0 && header.count + data.count > Limits.feedSize }

    /// True if the header is empty, as in the announcement of a message that is too large for the feed.
    package var isAnnouncement: Bool { header.isEmpty }

    /// The message as an envelope, even if its header is unreadable: see `Envelope.init(topic:header:data:position:)`.
    /// - Throws: ``BusError`` with code `malformed` if the topic is invalid.
    package func envelope() throws -> Envelope {
        try Envelope(
            topic: topic, header: header, data: data,
            position: offset > 0 ? Position(epoch: epoch, offset: offset) : nil, origin: origin)
    }
}

/// Consecutive messages of one topic that the feed sends together: topic | epoch, then for each message offset,
/// previous, previous in partition, header, data (blobs) | on a bus with keys, the origins of the messages.
package struct FeedPacket {
    /// A second or later message is added to a packet only if the packet and the message's header and data together
    /// have at most this number of bytes.
    private static let size = Limits.feedSize

    package let topic: String
    package let epoch: UInt64
    private var writer: ByteWriter
    private var origins = OriginWriter()

    package init(topic: String, epoch: UInt64) {
        self.topic = topic
        self.epoch = epoch
        writer = ByteWriter(capacity: 512)
        writer.write(epoch)
    }

    /// Adds a message if it has the packet's topic and epoch, and fits. The first message is always added.
    /// - Returns: False if the message needs another packet.
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
        origins.add(message.origin)
        return true
    }

    package var body: [UInt8] { writer.bytes }

    /// The frame after ``body``; nil on a bus without keys.
    package var originFrame: [UInt8]? { origins.frame }

    package var frames: [[UInt8]] { [Array(topic.utf8), body] + origins.frames }

    private var isEmpty: Bool { writer.bytes.count == MemoryLayout<UInt64>.size }

    /// Reads the messages of a received packet.
    package static func messages(_ frames: [[UInt8]]) throws(ProtocolError) -> [FeedMessage] {
        guard let (first, body, origin) = Origins.divide(frames[...]),
            let topic = String(validating: first, as: UTF8.self)
        else {
            throw ProtocolError(.malformed, "a packet has two or three frames: topic, messages and origins")
        }
        var origins = Origins(origin)
        var reader = ByteReader(body)
        let epoch: UInt64 = try reader.read()
        var messages: [FeedMessage] = []
        repeat {
            messages.append(
                FeedMessage(
                    topic: topic, epoch: epoch, offset: try reader.number(), previous: try reader.number(),
                    previousInPartition: try reader.number(), header: try reader.blob(), data: try reader.blob(),
                    origin: try origins.next()))
        } while !reader.isAtEnd
        try origins.end()
        return messages
    }
}

extension [FeedMessage] {
    /// Divides the messages into packets, in order, and calls `body` with each packet.
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
