internal import EventBus

/// A message on its way to the broker. As bytes: topic, subject, key (texts) | header, data (blobs).
package struct PublishedMessage: Hashable, Sendable {
    package let topic: String
    package let subject: String
    /// Which of several documents of one type and subject; empty for the only one.
    package let key: String
    /// The CloudEvents attributes as JSON. The broker does not look inside.
    package let header: Bytes
    /// JSON. The broker does not look inside.
    package let data: Bytes

    package init(topic: String, subject: String, key: String, header: Bytes, data: Bytes) {
        self.topic = topic
        self.subject = subject
        self.key = key
        self.header = header
        self.data = data
    }

    package init(_ reader: inout ByteReader) throws(ProtocolError) {
        self.init(
            topic: try reader.text(), subject: try reader.text(), key: try reader.text(), header: try reader.blob(),
            data: try reader.blob())
    }

    package func write(to writer: inout ByteWriter) {
        writer.write(text: topic)
        writer.write(text: subject)
        writer.write(text: key)
        writer.write(blob: header)
        writer.write(blob: data)
    }

    /// Checks all that a broker relies on.
    /// - Returns: the topic, read.
    package func validated() throws(ProtocolError) -> Topic {
        guard let topic = Topic(topic) else {
            throw ProtocolError(.topic, "'\(topic.prefix(80))' is not a topic such as command.PlaylistSelected.3f")
        }
        guard topic.partition == Partition(subject: subject) else {
            throw ProtocolError(.topic, "\(topic.name) is not the partition of its subject")
        }
        do {
            try Rules.check(topic.type, subject: subject)
            try Rules.check(topic.type, key: key, headerCount: header.count, dataCount: data.count)
        } catch {
            throw ProtocolError(error)
        }
        return topic
    }

    /// As ``validated()``, for what is to be journalled.
    package func validatedForJournal() throws(ProtocolError) -> Topic {
        let topic = try validated()
        do { try Rules.checkPublishing(topic.type) } catch { throw ProtocolError(error) }
        return topic
    }
}
