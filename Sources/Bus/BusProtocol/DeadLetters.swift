package import BusFormat

/// A request for a page of dead letters. Frames: after (8), consumer (text, empty for all).
package struct DeadLettersRequest: Hashable, Sendable {
    /// The id of the last dead letter that the client has received; 0 for the first page.
    package let after: Int64
    /// Empty for the dead letters of all consumers.
    package let consumer: String

    package init(after: Int64, consumer: String) {
        self.after = after
        self.consumer = consumer
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "letters has one frame: after, consumer")
        }
        var reader = ByteReader(frame)
        after = Int64(bitPattern: try reader.read())
        consumer = try reader.text()
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(UInt64(bitPattern: after))
        writer.write(text: consumer)
        return [writer.bytes]
    }
}

/// A page of dead letters. Frames: complete (1), epoch (8) | the letters, one after another: id, time (8 each),
/// consumer (text), rejection, message as in pages. In a list, the data of the messages is left out, and the size of
/// the data (4) follows each message | on a bus with keys, the origins of the messages.
package struct DeadLetters: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let id: Int64
        /// The time at which the consumer gave up the message, in milliseconds since 1970.
        package let time: UInt64
        package let consumer: String
        package let rejection: RejectionFrame
        /// The message; in a list, without its data.
        package let message: FeedMessage
        /// The number of bytes of the message's data.
        package let dataSize: UInt32

        /// - Parameter dataSize: Nil if `message` has its data.
        package init(
            id: Int64, time: UInt64, consumer: String, rejection: RejectionFrame, message: FeedMessage,
            dataSize: UInt32? = nil
        ) {
            self.id = id
            self.time = time
            self.consumer = consumer
            self.rejection = rejection
            self.message = message
            self.dataSize = dataSize ?? UInt32(clamping: message.data.count)
        }
    }

    /// True if no dead letter that matches the request comes after this page.
    package let isComplete: Bool
    package let deadLetters: [Entry]

    package init(isComplete: Bool, deadLetters: [Entry]) {
        self.isComplete = isComplete
        self.deadLetters = deadLetters
    }

    /// - Parameter isList: True if the data of the messages is left out.
    init(frames: ArraySlice<[UInt8]>, isList: Bool) throws(ProtocolError) {
        guard let (first, body, origin) = Origins.divide(frames) else {
            throw ProtocolError(
                .malformed, "the reply to letters has two or three frames: extent, letters and origins")
        }
        var origins = Origins(origin)
        var extent = ByteReader(first)
        isComplete = try extent.flag()
        let epoch: UInt64 = try extent.read()
        var reader = ByteReader(body)
        var deadLetters: [Entry] = []
        while !reader.isAtEnd {
            deadLetters.append(
                Entry(
                    id: Int64(bitPattern: try reader.read()), time: try reader.read(), consumer: try reader.text(),
                    rejection: try RejectionFrame(&reader),
                    message: try FeedMessage(page: &reader, epoch: epoch, &origins),
                    dataSize: isList ? try reader.read() : nil))
        }
        try origins.end()
        self.deadLetters = deadLetters
    }

    /// - Parameter isList: True if the letters have no data, so that the size of the data follows each of them.
    func frames(isList: Bool) -> [[UInt8]] {
        var extent = ByteWriter(capacity: 9)
        extent.write(UInt8(isComplete ? 1 : 0))
        extent.write(deadLetters.first?.message.epoch ?? 0)
        var writer = ByteWriter()
        var origins = OriginWriter()
        for deadLetter in deadLetters {
            writer.write(UInt64(bitPattern: deadLetter.id))
            writer.write(deadLetter.time)
            writer.write(text: deadLetter.consumer)
            deadLetter.rejection.write(to: &writer)
            deadLetter.message.write(page: &writer)
            if isList { writer.write(deadLetter.dataSize) }
            origins.add(deadLetter.message.origin)
        }
        return [extent.bytes, writer.bytes] + origins.frames
    }
}
