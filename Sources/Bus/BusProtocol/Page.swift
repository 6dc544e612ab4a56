/// A piece of the journal, or of the retained documents.
/// Frames: extent (epoch, through, complete, then the offset of each damaged message) | the messages, one behind the other.
package struct Page: Hashable, Sendable {
    package let epoch: UInt64
    /// Everything that matches up to here is in this page or was in an earlier one, or was removed by retention.
    package let through: UInt64
    /// Whether `through` was the journal's end.
    package let isComplete: Bool
    package let messages: [FeedMessage]
    /// The offsets of messages whose checksum is wrong: they cannot be delivered.
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
        guard frames.count == 2, let first = frames.first, let last = frames.last else {
            throw ProtocolError(.malformed, "a page has two frames: extent and messages")
        }
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.read()
        isComplete = try extent.read(UInt8.self) != 0
        var damaged: [UInt64] = []
        while !extent.isAtEnd {
            damaged.append(try extent.read())
        }
        self.damaged = damaged
        var reader = ByteReader(last)
        var messages: [FeedMessage] = []
        while !reader.isAtEnd {
            messages.append(try FeedMessage(page: &reader, epoch: epoch))
        }
        self.messages = messages
    }

    var frames: [[UInt8]] {
        var writer = ByteWriter(capacity: messages.reduce(0) { $0 + $1.header.count + $1.data.count + 128 })
        messages.forEach { $0.write(page: &writer) }
        let extent = Self.extent(epoch: epoch, through: through, isComplete: isComplete, damaged: damaged)
        return [extent, writer.bytes]
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
