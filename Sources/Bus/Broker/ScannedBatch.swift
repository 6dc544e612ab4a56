internal import BusProtocol
internal import EventBus

/// The messages of a batch, found and checked in the frame that brought them, without a copy of anything.
///
/// What is plain, a topic that is known with a subject in ASCII, is checked byte by byte here. Anything else is read as the
/// protocol's own types, which know what is wrong with it.
struct ScannedBatch {
    let frame: [UInt8]
    private(set) var messages: [ScannedMessage] = []
    /// Topics that the journal does not have yet.
    private(set) var newTopics: [Topic] = []
    /// Whether one of the messages is a document.
    private(set) var hasDocuments = false

    /// - Throws: ``ProtocolError`` for the first message that cannot be taken.
    init(_ frame: [UInt8], count: Int, topics: TopicTable) throws {
        self.frame = frame
        messages.reserveCapacity(count)
        let end = try frame.withUnsafeBytes { bytes in
            var scan = BatchScan(bytes: bytes)
            for _ in 0..<count {
                try add(&scan, topics)
            }
            return scan.index
        }
        guard end == frame.count else { throw ProtocolError(.malformed, "a frame is too long") }
    }

    private mutating func add(_ scan: inout BatchScan, _ topics: TopicTable) throws {
        let start = scan.index
        let (name, subject, key) = (try scan.text(), try scan.text(), try scan.text())
        let (header, data) = (try scan.blob(), try scan.blob())
        let topic: ScannedMessage.TopicReference
        if let known = scan.plainTopic(name, subject: subject, key: key, topics), header.count <= Limits.headerSize,
            data.count <= Limits.dataSize
        {
            topic = .known(known)
            hasDocuments = hasDocuments || topics[known].isDocument
        } else {
            topic = try reference(readTopic(scan.bytes[start..<scan.index]), topics)
        }
        messages.append(ScannedMessage(topic: topic, subject: subject, key: key, header: header, data: data))
    }

    private func readTopic(_ bytes: Slice<UnsafeRawBufferPointer>) throws -> Topic {
        var reader = ByteReader(Array(bytes))
        return try PublishedMessage(&reader).validatedForJournal()
    }

    private mutating func reference(_ topic: Topic, _ topics: TopicTable) -> ScannedMessage.TopicReference {
        hasDocuments = hasDocuments || topic.type.kind == .document
        if let known = topics.index(of: topic) { return .known(known) }
        if let new = newTopics.firstIndex(of: topic) { return .new(new) }
        newTopics.append(topic)
        return .new(newTopics.count - 1)
    }
}
