internal import EventBus

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
    package var isTooLargeForFeed: Bool { offset > 0 && header.count + data.count > Limits.feedSize }

    /// Whether this is such an announcement: no message lacks its header.
    package var isAnnouncement: Bool { header.isEmpty }
}
