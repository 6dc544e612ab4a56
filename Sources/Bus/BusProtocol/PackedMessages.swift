package import EventBus
internal import Foundation

/// The messages of a batch as they are sent: one behind the other, in one frame.
package struct PackedMessages: Hashable, Sendable {
    package private(set) var count = 0
    package var bytes: [UInt8] { writer.bytes }
    private var writer = ByteWriter()

    package init() {}

    /// Packs what may be wrong: the broker checks.
    package init(_ messages: [PublishedMessage]) {
        writer = ByteWriter(capacity: messages.reduce(0) { $0 + $1.header.count + $1.data.count + 128 })
        messages.forEach { $0.write(to: &writer) }
        count = messages.count
    }

    /// Packs what a broker takes.
    /// - Throws: ``ProtocolError`` for the first message that it would refuse.
    package init(_ envelopes: [Envelope], isTransient: Bool) throws(ProtocolError) {
        writer = ByteWriter(capacity: envelopes.reduce(0) { $0 + $1.data.count + 512 })
        var last: (type: MessageType, subject: String, topic: String)?
        do {
            for envelope in envelopes {
                // Messages of one batch mostly are of one topic: it is made once.
                let (type, subject) = (envelope.type, envelope.subject)
                let topic: String
                if let last, last.type == type, last.subject == subject {
                    topic = last.topic
                } else {
                    try Rules.check(type, subject: subject)
                    try Rules.checkPublishing(type, isTransient: isTransient)
                    topic = Topic(type, subject: subject).name
                }
                last = (type, subject, topic)
                try add(envelope, topic: topic, isTransient: isTransient)
            }
        } catch {
            throw ProtocolError(error)
        }
    }

    /// - Throws: ``ProtocolError`` unless there are exactly `count` messages.
    init(_ frame: [UInt8], count: Int) throws(ProtocolError) {
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
        try Rules.check(envelope.attributes)
        let key = envelope.attributes.key ?? ""
        writer.write(text: topic)
        writer.write(text: envelope.subject)
        writer.write(text: key)
        let start = writer.bytes.count
        writer.writeBlob { envelope.attributes.writeJSON(to: &$0) }
        let headerCount = writer.bytes.count - start - MemoryLayout<UInt32>.size
        writer.writeBlob { bytes in envelope.data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        count += 1
        try Rules.check(
            envelope.type, key: key, headerCount: headerCount, dataCount: envelope.data.count, isTransient: isTransient)
    }
}
