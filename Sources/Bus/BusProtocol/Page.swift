/// A piece of the journal, or of the retained documents. Frames: extent (epoch, through, complete) | four a message.
package struct Page: Hashable, Sendable {
    package let epoch: UInt64
    /// Everything that matches up to here is in this page or was in an earlier one.
    package let through: UInt64
    /// Whether `through` was the journal's end.
    package let isComplete: Bool
    package let messages: [FeedMessage]

    package init(epoch: UInt64, through: UInt64, isComplete: Bool, messages: [FeedMessage]) {
        self.epoch = epoch
        self.through = through
        self.isComplete = isComplete
        self.messages = messages
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "a page lacks its extent") }
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.read()
        isComplete = try extent.read(UInt8.self) != 0
        let rest = frames.dropFirst()
        guard rest.count.isMultiple(of: FeedMessage.frameCount) else {
            throw ProtocolError(.malformed, "a page has four frames a message")
        }
        var messages: [FeedMessage] = []
        for start in stride(from: rest.startIndex, to: rest.endIndex, by: FeedMessage.frameCount) {
            messages.append(try FeedMessage(frames: rest[start..<start + FeedMessage.frameCount]))
        }
        self.messages = messages
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 17)
        extent.write(epoch)
        extent.write(through)
        extent.write(UInt8(isComplete ? 1 : 0))
        return [extent.bytes] + messages.flatMap(\.frames)
    }
}
