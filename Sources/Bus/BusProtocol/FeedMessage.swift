package import EventBus
internal import Foundation

/// A message of the journal, as it is on the feed (``FeedPacket``) and in pages: topic (text), offset, previous, header, data
/// (blobs).
package struct FeedMessage: Hashable, Sendable {
    package let topic: String
    package let epoch: UInt64
    /// 0 for a transient message, which no journal holds.
    package let offset: UInt64
    /// The offset of the message before it on the same topic; 0 for the first. A receiver that lacks it has lost something.
    package let previous: UInt64
    /// The offset of the message before it in the same partition, of whatever type: with it the order within a subject is
    /// kept across types. Not in pages, which are in order.
    package let previousInPartition: UInt64
    /// The CloudEvents attributes as JSON.
    package let header: Bytes
    /// JSON, or empty for a document that no longer exists.
    package let data: Bytes

    package init(
        topic: String, epoch: UInt64, offset: UInt64, previous: UInt64, previousInPartition: UInt64 = 0, header: Bytes,
        data: Bytes
    ) {
        self.topic = topic
        self.epoch = epoch
        self.offset = offset
        self.previous = previous
        self.previousInPartition = previousInPartition
        self.header = header
        self.data = data
    }

    package init(page reader: inout ByteReader, epoch: UInt64) throws(ProtocolError) {
        self.init(
            topic: try reader.text(), epoch: epoch, offset: try reader.read(), previous: try reader.read(),
            header: try reader.blob(), data: try reader.blob())
    }

    package func write(page writer: inout ByteWriter) {
        writer.write(text: topic)
        writer.write(offset)
        writer.write(previous)
        writer.write(blob: header)
        writer.write(blob: data)
    }

    /// Whether the feed carries only its topic and position: a stalled subscriber's queue is bounded in messages, and so in
    /// bytes. Subscribers read it from the journal.
    fileprivate var isTooLargeForFeed: Bool { offset > 0 && header.count + data.count > Limits.feedSize }

    /// Whether this is such an announcement: no message lacks its header.
    package var isAnnouncement: Bool { header.isEmpty }

    /// The message, or what its topic tells of it if its header cannot be read: that is its publisher's mistake, and nobody
    /// else's trouble.
    /// - Parameter settled: up to where everything came before it; up to its own offset unless said.
    /// - Throws: ``BusError`` with code `malformed` when the topic is none.
    package func envelope(settled: UInt64? = nil) throws -> Envelope {
        let position = offset > 0 ? Position(epoch: epoch, offset: offset, settled: settled ?? offset) : nil
        let reason: String
        do {
            let envelope = try Envelope(header: header, data: data, position: position)
            if Topic.name(topic, isOf: envelope) { return envelope }
            reason = "its header says \(envelope.type) of '\(envelope.subject.shortened())'"
        } catch let error as BusError {
            reason = error.message
        }
        guard let topic = Topic(topic) else { throw BusError(.malformed, "at \(offset): '\(topic)' is not a topic") }
        let header = UnreadableHeader(
            reason: "at \(offset) on \(topic.name): \(reason)", partition: topic.partition, bytes: Data(header))
        return Envelope(type: topic.type, header, data: Data(data), position: position)
    }
}

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

extension Envelope {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package init(header: Bytes, data: Bytes, position: Position? = nil) throws {
        do {
            self.init(
                attributes: try Attributes(json: header), data: Data(data),
                position: position)
        } catch let error as DecodingError {
            throw BusError(.malformed, "a message has an unreadable header: \(error.summary)")
        }
    }
}
