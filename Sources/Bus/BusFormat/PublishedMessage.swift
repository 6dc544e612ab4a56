package import EventBus
internal import Foundation

/// A message as a client sends it to the broker. As bytes: topic, subject, key (texts) | header, data (blobs).
package struct PublishedMessage: Hashable, Sendable {
    package let topic: String
    package let subject: String
    /// Distinguishes documents of the same type and subject; empty if the message has no key.
    package let key: String
    /// The CloudEvents attributes as JSON. The broker does not read them.
    package let header: Bytes
    /// JSON; empty if the message withdraws a document. The broker does not parse it.
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

    /// Checks the topic, the subject, the key and the sizes.
    /// - Returns: The topic.
    package func validated() throws(ProtocolError) -> Topic {
        guard let topic = Topic(topic) else {
            throw ProtocolError(
                .topic, "'\(topic.prefix(80))' is not a topic; write kind.Name.partition, such as command.A.3f")
        }
        guard topic.partition == Partition(subject: subject) else {
            throw ProtocolError(.topic, "topic \(topic.name) does not have the partition of its subject")
        }
        do {
            try Rules.check(topic.type, subject: subject)
            try Rules.check(topic.type, key: key, headerCount: header.count, dataCount: data.count)
        } catch {
            throw ProtocolError(error)
        }
        return topic
    }

    /// Does the same as ``validated()``, and refuses queries.
    package func validatedForJournal() throws(ProtocolError) -> Topic {
        let topic = try validated()
        do { try Rules.checkPublishing(topic.type) } catch { throw ProtocolError(error) }
        return topic
    }

    /// - Throws: ``BusError`` with code `malformed` if the envelope comes from a message with an unreadable header;
    ///   `refused` if an attribute is too long, or a time is outside the years 0000 to 9999.
    package init(_ envelope: Envelope) throws {
        if let header = envelope.unreadableHeader { throw BusError(.malformed, header.reason) }
        do { try Rules.check(envelope.attributes) } catch { throw BusError(error) }
        self.init(
            topic: Topic(envelope.type, subject: envelope.subject).name, subject: envelope.subject,
            key: envelope.attributes.key ?? "", header: envelope.attributes.json[...],
            data: Array(envelope.data)[...])
    }

    /// Creates a message and checks it.
    /// - Throws: ``BusError`` with code `malformed` or `refused` if the bus would refuse the message.
    package init(checking envelope: Envelope) throws {
        try self.init(envelope)
        do { _ = try validated() } catch { throw BusError(.refused, error.message) }
    }

    /// - Throws: ``BusError`` with code `malformed` if the header is not CloudEvents JSON.
    package func envelope(_ origin: VerifiedOrigin? = nil) throws -> Envelope {
        try Envelope(header: header, data: data, origin: origin)
    }
}

/// The messages of a batch in one frame, one after another.
package struct PackedMessages: Hashable, Sendable {
    package private(set) var count = 0
    package var bytes: [UInt8] { writer.bytes }
    private var writer = ByteWriter()

    package init() {}

    /// Packs messages without checking them: the broker checks them.
    package init(_ messages: [PublishedMessage]) {
        writer = ByteWriter(capacity: messages.reduce(0) { $0 + $1.header.count + $1.data.count + 128 })
        messages.forEach { $0.write(to: &writer) }
        count = messages.count
    }

    /// Checks and packs messages.
    /// - Throws: ``ProtocolError`` for the first message that is invalid.
    package init(_ envelopes: [Envelope], isTransient: Bool) throws(ProtocolError) {
        writer = ByteWriter(capacity: envelopes.reduce(0) { $0 + $1.data.count + 512 })
        var last: (type: MessageType, subject: String, topic: String)?
        do {
            for envelope in envelopes {
                // Most batches have only one topic. Its name is created only once.
                let (type, subject) = (envelope.type, envelope.subject)
                let topic: String
                if let last, last.type == type, last.subject == subject {
                    topic = last.topic
                } else {
                    try Rules.check(type, subject: subject)
                    try Rules.checkPublishing(type)
                    topic = Topic(type, subject: subject).name
                }
                last = (type, subject, topic)
                try add(envelope, topic: topic, isTransient: isTransient)
            }
        } catch {
            throw ProtocolError(error)
        }
    }

    /// - Throws: ``ProtocolError`` if the frame does not contain exactly `count` messages.
    package init(_ frame: [UInt8], count: Int) throws(ProtocolError) {
        var reader = ByteReader(frame)
        var messages: [PublishedMessage] = []
        messages.reserveCapacity(count)
        for _ in 0..<count {
            messages.append(try PublishedMessage(&reader))
        }
        try reader.end()
        self.init(messages)
    }

    private mutating func add(_ envelope: Envelope, topic: String, isTransient: Bool) throws(Mistake) {
        let key = envelope.key ?? ""
        writer.write(text: topic)
        writer.write(text: envelope.subject)
        writer.write(text: key)
        let start = writer.bytes.count
        try writer.writeBlob { bytes throws(Mistake) in try envelope.writeHeader(to: &bytes) }
        let headerCount = writer.bytes.count - start - MemoryLayout<UInt32>.size
        writer.writeBlob { bytes in envelope.data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        count += 1
        let dataCount = envelope.data.count
        try Rules.check(envelope.type, key: key, headerCount: headerCount, dataCount: dataCount)
        if isTransient { try Rules.checkTransient(envelope.type, headerCount: headerCount, dataCount: dataCount) }
    }
}
