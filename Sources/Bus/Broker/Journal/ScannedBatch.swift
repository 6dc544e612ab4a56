internal import BusFormat
internal import EventBus
internal import Foundation

/// The messages of a batch, found and checked in the received frame.
///
/// The common case, a known topic with a subject and key in ASCII, is checked here byte by byte without a copy.
/// Anything else is read with the types of the protocol, which report what is wrong.
struct ScannedBatch {
    let frame: [UInt8]
    private(set) var messages: [ScannedMessage] = []
    /// The topics that are not in the given table yet.
    private(set) var newTopics: [Topic] = []

    /// - Throws: ``ProtocolError`` for the first message that is invalid.
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

    /// - Parameter publisher: Nil on a bus without keys.
    func origin(of message: ScannedMessage, from publisher: Publisher?) -> VerifiedOrigin? {
        publisher.map {
            VerifiedOrigin(session: String(decoding: frame[message.subject], as: UTF8.self), publisher: $0.name)
        }
    }

    /// Calls `body` for each message that is a version of a document.
    func forEachDocument(
        _ topics: TopicTable, _ body: (DocumentIdentity, ScannedMessage) throws -> Void
    ) rethrows {
        try frame.withUnsafeBytes { frame in
            for message in messages {
                let type: [UInt8]
                switch message.topic {
                case .known(let index):
                    guard topics[index].isDocument else { continue }
                    type = topics[index].typeBytes
                case .new(let index):
                    guard newTopics[index].type.kind == .document else { continue }
                    type = Array(newTopics[index].type.description.utf8)
                }
                try body(DocumentIdentity(type: type, of: message, in: frame), message)
            }
        }
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
        if let known = topics.index(of: topic) { return .known(known) }
        if let new = newTopics.firstIndex(of: topic) { return .new(new) }
        newTopics.append(topic)
        return .new(newTopics.count - 1)
    }
}

/// A message of a batch, as ranges of the batch's frame. The topic, the subject, the key and the sizes were checked.
struct ScannedMessage {
    enum TopicReference {
        /// The index in the table of topics.
        case known(Int)
        /// The index in ``ScannedBatch/newTopics``.
        case new(Int)

        /// Returns the index in the table of topics, after the new topics were added to it.
        /// - Parameter new: The indices of the new topics in that table.
        func index(amongNew new: [Int]) -> Int {
            switch self {
            case .known(let index): index
            case .new(let index): new[index]
            }
        }
    }

    let topic: TopicReference
    /// The number of bytes that the message has as a retained document; 0 for a withdrawal.
    var documentSize: Int { data.isEmpty ? 0 : max(header.count + data.count, StoredSizes.minimum) }
    let subject: Range<Int>
    let key: Range<Int>
    let header: Range<Int>
    let data: Range<Int>
}

/// A reader of a frame of messages.
struct BatchScan {
    let bytes: UnsafeRawBufferPointer
    var index = 0
    /// The last message's topic name, subject and topic: most batches have only one topic and subject.
    private var lastName = 0..<0
    private var lastSubject = 0..<0
    private var lastTopic: Int?

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func text() throws -> Range<Int> {
        guard bytes.count - index >= 2 else { throw ProtocolError(.malformed, "a frame is too short") }
        let count = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt16.self))
        return try consume(2, Int(count))
    }

    mutating func blob() throws -> Range<Int> {
        guard bytes.count - index >= 4 else { throw ProtocolError(.malformed, "a frame is too short") }
        let count = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        return try consume(4, Int(count))
    }

    private mutating func consume(_ prefix: Int, _ count: Int) throws -> Range<Int> {
        guard bytes.count - index - prefix >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        let range = index + prefix..<index + prefix + count
        index = range.upperBound
        return range
    }

    /// Returns the index of the topic if it is known, and the subject and the key are in ASCII. Nil if the message
    /// needs further checks.
    mutating func plainTopic(
        _ name: Range<Int>, subject: Range<Int>, key: Range<Int>, _ topics: TopicTable
    ) -> Int? {
        guard key.count <= Limits.nameLength, isPlain(key) else { return nil }
        if let lastTopic, areEqual(name, lastName), areEqual(subject, lastSubject) { return lastTopic }
        guard let topic = topics.index(of: UnsafeRawBufferPointer(rebasing: bytes[name])),
            subject.count <= Limits.nameLength, isPlain(subject),
            topics[topic].partition == Partition(subject: UnsafeRawBufferPointer(rebasing: bytes[subject]))
        else { return nil }
        (lastName, lastSubject, lastTopic) = (name, subject, topic)
        return topic
    }

    private func areEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        UnsafeRawBufferPointer(rebasing: bytes[left])
            .hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes[right]))
    }

    /// True if the bytes are ASCII without a zero byte.
    private func isPlain(_ range: Range<Int>) -> Bool {
        bytes[range].allSatisfy { $0 &- 1 < 0x7f }
    }
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}
