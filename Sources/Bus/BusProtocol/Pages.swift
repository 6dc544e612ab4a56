package import BusFormat
package import EventBus
internal import Support

/// A request for the messages, documents or topics after an offset, or for the number of these messages. Frames: cursor
/// (epoch, offset) | one for each topic prefix.
package struct PageRequest: Hashable, Sendable {
    /// 0 for any journal.
    package let epoch: UInt64
    package let after: UInt64
    package let prefixes: [String]

    package init(epoch: UInt64, after: UInt64, prefixes: [String]) {
        self.epoch = epoch
        self.after = after
        self.prefixes = prefixes
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else {
            throw ProtocolError(.malformed, "the request lacks its frame 'cursor': epoch, after")
        }
        var cursor = ByteReader(first)
        self.init(
            epoch: try cursor.read(), after: try cursor.read(), prefixes: try Self.prefixes(frames.dropFirst()))
        try cursor.end()
    }

    package var frames: [[UInt8]] {
        var cursor = ByteWriter(capacity: 16)
        cursor.write(epoch)
        cursor.write(after)
        return [cursor.bytes] + prefixes.map { Array($0.utf8) }
    }

    private static func prefixes(_ frames: ArraySlice<[UInt8]>) throws(ProtocolError) -> [String] {
        guard frames.count <= Limits.filterCount else {
            throw ProtocolError(.tooLarge, "a request has at most \(Limits.filterCount) filters")
        }
        var prefixes: [String] = []
        for frame in frames {
            guard let prefix = String(validating: frame, as: UTF8.self), prefix.ends(with: ".") || Topic(prefix) != nil
            else {
                throw ProtocolError(.topic, "a filter must end with a dot or be a whole topic")
            }
            prefixes.append(prefix)
        }
        return prefixes
    }
}

/// A page of the journal, or of the retained documents.
/// Frames: extent (epoch, through, complete, then the offset of each damaged message) | the messages, one after
/// another | on a bus with keys, their origins.
package struct Page: Hashable, Sendable {
    package let epoch: UInt64
    /// The offset up to which the journal was read for this page. The next page begins after it.
    package let through: UInt64
    /// True if the broker found nothing more to read; `through` is then the end of the journal.
    package let isComplete: Bool
    package let messages: [FeedMessage]
    /// The offsets of messages that cannot be delivered, because their checksum is wrong or their topic is unknown.
    package let damaged: [UInt64]

    package init(
        epoch: UInt64, through: UInt64, isComplete: Bool, messages: [FeedMessage], damaged: [UInt64] = []
    ) {
        self.epoch = epoch
        self.through = through
        self.isComplete = isComplete
        self.messages = messages
        self.damaged = damaged
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let (first, body, origin) = Origins.divide(frames) else {
            throw ProtocolError(.malformed, "a page has two or three frames: extent, messages and origins")
        }
        var origins = Origins(origin)
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.number()
        isComplete = try extent.flag()
        var damaged: [UInt64] = []
        while !extent.isAtEnd {
            damaged.append(try extent.number())
        }
        self.damaged = damaged
        var reader = ByteReader(body)
        var messages: [FeedMessage] = []
        while !reader.isAtEnd {
            messages.append(try FeedMessage(page: &reader, epoch: epoch, &origins))
        }
        try origins.end()
        self.messages = messages
    }

    var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: messages.reduce(0) { $0 + $1.header.count + $1.data.count + 128 })
        var origins = OriginWriter()
        for message in messages {
            message.write(page: &writer)
            origins.add(message.origin)
        }
        let extent = Self.extent(epoch: epoch, through: through, isComplete: isComplete, damaged: damaged)
        return [extent, writer.bytes] + origins.frames
    }

    static func extent(epoch: UInt64, through: UInt64, isComplete: Bool, damaged: [UInt64]) -> [UInt8] {
        var extent = ByteWriter(capacity: 17 + damaged.count * 8)
        extent.write(epoch)
        extent.write(through)
        extent.write(UInt8(isComplete ? 1 : 0))
        damaged.forEach { extent.write($0) }
        return extent.bytes
    }
}

/// A ``Page`` that the broker fills: each message is copied from the database directly into the frame.
package struct PackedPage: Sendable {
    package var through: UInt64
    package var isComplete = false
    package var damaged: [UInt64] = []
    /// The number of messages.
    package private(set) var count = 0
    private let epoch: UInt64
    private var writer = ByteWriter()
    private var origins = OriginWriter()

    package init(epoch: UInt64, through: UInt64) {
        self.epoch = epoch
        self.through = through
    }

    package var isFull: Bool { count >= Limits.pageCount || writer.bytes.count >= Limits.pageSize }

    /// Adds a message in the format of ``FeedMessage/write(page:)``.
    package mutating func add(
        topic: [UInt8], offset: UInt64, previous: UInt64, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer,
        origin: VerifiedOrigin?
    ) {
        writer.write(UInt16(clamping: topic.count))
        writer.write(bytes: topic)
        writer.write(offset)
        writer.write(previous)
        writer.write(blob: header)
        writer.write(blob: data)
        origins.add(origin)
        count += 1
    }

    package func frames(to head: RequestHead) -> [[UInt8]] {
        let extent = Page.extent(epoch: epoch, through: through, isComplete: isComplete, damaged: damaged)
        return Reply.successFrames(head: head.bytes, body: [extent, writer.bytes] + origins.frames)
    }
}

/// A request for one retained document. Frame: epoch (8), type, subject, key (texts).
package struct DocumentRequest: Hashable, Sendable {
    /// 0 for any journal.
    package let epoch: UInt64
    package let type: MessageType
    package let subject: String
    /// Empty for a document without a key.
    package let key: String

    /// - Throws: ``ProtocolError`` if a document cannot have this type, subject or key.
    package init(epoch: UInt64 = 0, type: MessageType, subject: String, key: String) throws(ProtocolError) {
        do { try Rules.checkDocument(type, subject: subject, key: key) } catch { throw ProtocolError(error) }
        self.epoch = epoch
        self.type = type
        self.subject = subject
        self.key = key
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "document has one frame: epoch, type, subject, key")
        }
        var reader = ByteReader(frame)
        let epoch: UInt64 = try reader.read()
        let type = try reader.messageType()
        try self.init(epoch: epoch, type: type, subject: try reader.text(), key: try reader.text())
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(epoch)
        writer.write(text: type.description)
        writer.write(text: subject)
        writer.write(text: key)
        return [writer.bytes]
    }
}

/// A request for the retained documents of one type and subject after an offset.
/// Frame: epoch (8), after (8), type, subject (texts).
package struct SubjectRequest: Hashable, Sendable {
    /// 0 for any journal.
    package let epoch: UInt64
    package let after: UInt64
    package let type: MessageType
    package let subject: String

    /// - Throws: ``ProtocolError`` if a document cannot have this type or subject.
    package init(epoch: UInt64 = 0, after: UInt64, type: MessageType, subject: String) throws(ProtocolError) {
        do { try Rules.checkDocument(type, subject: subject, key: "") } catch { throw ProtocolError(error) }
        self.epoch = epoch
        self.after = after
        self.type = type
        self.subject = subject
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: epoch, after, type, subject")
        }
        var reader = ByteReader(frame)
        let (epoch, after): (UInt64, UInt64) = (try reader.read(), try reader.read())
        let type = try reader.messageType()
        try self.init(epoch: epoch, after: after, type: type, subject: try reader.text())
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(epoch)
        writer.write(after)
        writer.write(text: type.description)
        writer.write(text: subject)
        return [writer.bytes]
    }
}

extension ByteReader {
    fileprivate mutating func messageType() throws(ProtocolError) -> MessageType {
        let name = try text()
        guard let type = MessageType(name) else {
            throw ProtocolError(.topic, "'\(name.prefix(80))' is not the type of a message")
        }
        return type
    }
}

/// The requested topics that have messages after the requested offset, each with the offset of its last message.
/// Frames: extent (epoch, through) | one for each topic (offset, name).
package struct Heads: Hashable, Sendable {
    package let epoch: UInt64
    /// The end of the journal when the broker replied.
    package let through: UInt64
    package let offsets: [String: UInt64]

    package init(epoch: UInt64, through: UInt64, offsets: [String: UInt64]) {
        self.epoch = epoch
        self.through = through
        self.offsets = offsets
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else {
            throw ProtocolError(.malformed, "the reply to heads lacks its frame 'extent'")
        }
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.number()
        var offsets: [String: UInt64] = [:]
        for frame in frames.dropFirst() {
            var reader = ByteReader(frame)
            let offset = try reader.number()
            offsets[try reader.text()] = offset
        }
        self.offsets = offsets
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 16)
        extent.write(epoch)
        extent.write(through)
        return [extent.bytes]
            + offsets.map { topic, offset in
                var writer = ByteWriter()
                writer.write(offset)
                writer.write(text: topic)
                return writer.bytes
            }
    }
}
