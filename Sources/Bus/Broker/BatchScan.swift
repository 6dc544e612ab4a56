internal import BusProtocol
internal import EventBus

/// A place in a frame of messages.
struct BatchScan {
    let bytes: UnsafeRawBufferPointer
    var index = 0
    /// Messages of one batch mostly are of one topic and subject.
    private var lastName = 0..<0
    private var lastSubject = 0..<0
    private var lastTopic: Int?

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func text() throws -> Range<Int> {
        guard bytes.count - index >= 2 else { throw ProtocolError(.malformed, "a frame is too short") }
        let count = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt16.self))
        return try take(2, Int(count))
    }

    mutating func blob() throws -> Range<Int> {
        guard bytes.count - index >= 4 else { throw ProtocolError(.malformed, "a frame is too short") }
        let count = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        return try take(4, Int(count))
    }

    private mutating func take(_ prefix: Int, _ count: Int) throws -> Range<Int> {
        guard bytes.count - index - prefix >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        let range = index + prefix..<index + prefix + count
        index = range.upperBound
        return range
    }

    /// Nil for whatever needs a closer look.
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

    /// Whether it is ASCII without a zero byte.
    private func isPlain(_ range: Range<Int>) -> Bool {
        bytes[range].allSatisfy { $0 &- 1 < 0x7f }
    }
}
