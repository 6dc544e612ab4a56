internal import BusFormat
package import EventBus
internal import Foundation

/// Reads the messages of a batch as envelopes, with the same result as ``BatchMessage/content(at:of:)`` and
/// ``BatchMessage/Stored/envelope(settled:)``.
///
/// A subscriber that catches up spends most of its time here. So a message whose header has no escapes, and whose names
/// are ASCII, is read where it was received, and only what its envelope keeps is copied. Every other message is read by
/// the functions above.
package struct BatchEnvelopes {
    /// The envelopes, in order.
    package var envelopes: [Envelope] = []
    /// The reasons why messages are missing: ``BusError`` with code `malformed`, because their topics are invalid.
    package private(set) var failures: [any Error] = []

    /// The topic of the last message, because messages of one batch usually have the same.
    private var lastName: [UInt8] = []
    private var lastTopic: Topic?

    package init(_ envelopes: [Envelope]) {
        self.envelopes = envelopes
    }

    /// - Parameters:
    ///   - headers: The headers of the batch.
    ///   - body: Its body.
    ///   - sequence: The sequence of the batch in the stream.
    ///   - isWanted: True for the offset of a message that is to be read.
    /// - Throws: ``ProtocolError`` if the body is damaged, or if the sequence cannot be that of a batch.
    package init(
        _ headers: BatchHeaders, _ body: UnsafeRawBufferPointer, at sequence: UInt64, of epoch: UInt64,
        where isWanted: (_ offset: UInt64) -> Bool
    ) throws {
        guard !headers.hasRejection, let first = StreamPosition(sequence: sequence, index: 0, count: headers.count),
            readUsual(headers.count, body, at: Position(epoch: epoch, offset: first.offset), where: isWanted)
        else {
            (envelopes, failures) = ([], [])
            for stored in try BatchMessage(headers: headers, body: Array(body)).content(at: sequence, of: epoch)
                .messages
            where isWanted(stored.position.offset) {
                add(stored)
            }
            return
        }
    }

    /// Reads a batch that the stream does not store. Its messages have no positions.
    package init(transient headers: BatchHeaders, _ body: UnsafeRawBufferPointer) throws {
        try self.init(headers, body, at: 1, of: 0) { _ in true }
        for index in envelopes.indices { envelopes[index].position = nil }
    }

    /// Reads a body that has only messages, whose names are ASCII.
    /// - Parameter first: The position of the first message.
    /// - Returns: False for any other body.
    private mutating func readUsual(
        _ count: Int, _ body: UnsafeRawBufferPointer, at first: Position, where isWanted: (_ offset: UInt64) -> Bool
    ) -> Bool {
        var place = 0
        envelopes.reserveCapacity(count)
        for index in 0..<count {
            guard let message = MessagePlaces(body, at: &place), message.names.allSatisfy({ $0 < 0x80 }) else {
                return false
            }
            let position = Position(epoch: first.epoch, offset: first.offset + UInt64(index))
            guard isWanted(position.offset) else { continue }
            if let topic = topic(message.topic),
                let envelope = Envelope(plain: message.header, data: message.data, position: position),
                envelope.type == topic.type, envelope.partition == topic.partition
            {
                envelopes.append(envelope)
            } else {
                var reader = ByteReader(Array(message.bytes))
                guard let message = try? PublishedMessage(&reader) else { return false }
                add(BatchMessage.Stored(message: message, position: position))
            }
        }
        return place == body.count
    }

    private mutating func add(_ stored: BatchMessage.Stored) {
        do { envelopes.append(try stored.envelope()) } catch { failures.append(error) }
    }

    /// The topic with a name; nil if there is none.
    private mutating func topic(_ name: UnsafeBufferPointer<UInt8>) -> Topic? {
        guard let start = name.baseAddress, name.count > 0 else { return nil }
        if lastName.count != name.count || memcmp(lastName, start, name.count) != 0 {
            lastName = Array(name)
            lastTopic = Topic(utf8: name)
        }
        return lastTopic
    }
}

/// The parts of a packed message in the bytes of a batch.
private struct MessagePlaces {
    let bytes: UnsafeRawBufferPointer
    /// The topic, the subject and the key, each with its length.
    let names: UnsafeRawBufferPointer
    let topic: UnsafeBufferPointer<UInt8>
    let header: UnsafeBufferPointer<UInt8>
    let data: UnsafeBufferPointer<UInt8>

    /// Reads a message, and moves `place` to its end. Nil if the message is not whole.
    init?(_ body: UnsafeRawBufferPointer, at place: inout Int) {
        let start = place
        guard let topic = Self.part(UInt16.self, of: body, at: &place),
            Self.part(UInt16.self, of: body, at: &place) != nil, Self.part(UInt16.self, of: body, at: &place) != nil
        else { return nil }
        names = UnsafeRawBufferPointer(rebasing: body[start..<place])
        guard let header = Self.part(UInt32.self, of: body, at: &place),
            let data = Self.part(UInt32.self, of: body, at: &place)
        else { return nil }
        bytes = UnsafeRawBufferPointer(rebasing: body[start..<place])
        self.topic = topic
        self.header = header
        self.data = data
    }

    /// Reads a part after its length.
    private static func part<Length: FixedWidthInteger & UnsignedInteger>(
        _ length: Length.Type, of body: UnsafeRawBufferPointer, at place: inout Int
    ) -> UnsafeBufferPointer<UInt8>? {
        let size = MemoryLayout<Length>.size
        guard body.count - place >= size else { return nil }
        let count = Int(Length(bigEndian: body.loadUnaligned(fromByteOffset: place, as: Length.self)))
        let start = place + size
        guard body.count - start >= count else { return nil }
        place = start + count
        return UnsafeRawBufferPointer(rebasing: body[start..<place]).assumingMemoryBound(to: UInt8.self)
    }
}
