internal import EventBus

/// A message on its way to the journal: topic | routing | header | data.
package struct PublishedMessage: Hashable, Sendable {
    package let topic: String
    package let subject: String
    /// Which of several documents of one type and subject; empty for the only one.
    package let key: String
    /// The CloudEvents attributes as JSON. The broker does not look inside.
    package let header: [UInt8]
    /// JSON. The broker does not look inside.
    package let data: [UInt8]

    package init(topic: String, subject: String, key: String, header: [UInt8], data: [UInt8]) {
        self.topic = topic
        self.subject = subject
        self.key = key
        self.header = header
        self.data = data
    }

    package static let frameCount = 4

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        let frames = Array(frames)
        guard frames.count == Self.frameCount, let topic = String(validating: frames[0], as: UTF8.self) else {
            throw ProtocolError(.malformed, "a published message has four frames: topic, routing, header, data")
        }
        var routing = ByteReader(frames[1])
        self.init(
            topic: topic, subject: try routing.text(), key: try routing.text(), header: frames[2], data: frames[3])
        try routing.end()
    }

    package var frames: [[UInt8]] {
        var routing = ByteWriter()
        routing.write(text: subject)
        routing.write(text: key)
        return [Array(topic.utf8), routing.bytes, header, data]
    }

    /// Checks all that a broker relies on.
    /// - Returns: the topic, read.
    package func validated() throws(ProtocolError) -> Topic {
        guard let topic = Topic(topic), topic.type.kind != .query else {
            throw ProtocolError(.topic, "'\(topic.prefix(80))' is not a topic such as command.PlaylistSelected.3f")
        }
        guard topic.partition == Topic.partition(of: subject) else {
            throw ProtocolError(.topic, "\(topic.name) is not the partition of its subject")
        }
        guard subject.utf8.count <= Limits.nameLength, key.utf8.count <= Limits.nameLength else {
            throw ProtocolError(.tooLarge, "a subject or key of \(topic.type) exceeds \(Limits.nameLength) bytes")
        }
        guard header.count <= Limits.headerSize, data.count <= Limits.dataSize else {
            throw ProtocolError(
                .tooLarge,
                "\(topic.type) exceeds \(Limits.headerSize) bytes of header or \(Limits.dataSize) bytes of data")
        }
        return topic
    }
}
