internal import EventBus

/// A query for whoever serves its type. Frames: timeout in milliseconds (4) | the message, as when it is published.
package struct AskRequest: Hashable, Sendable {
    package let timeout: UInt32
    package let query: PublishedMessage

    package init(timeout: UInt32, query: PublishedMessage) {
        self.timeout = timeout
        self.query = query
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard frames.count == 2, let first = frames.first, let last = frames.last else {
            throw ProtocolError(.malformed, "ask has two frames: timeout and message")
        }
        var timeoutReader = ByteReader(first)
        timeout = try timeoutReader.read()
        try timeoutReader.end()
        var reader = ByteReader(last)
        query = try PublishedMessage(&reader)
        try reader.end()
        guard try query.validated().type.kind == .query else {
            throw ProtocolError(.topic, "\(query.topic) is not a query")
        }
    }

    package var frames: [[UInt8]] {
        var timeoutWriter = ByteWriter(capacity: 4)
        timeoutWriter.write(timeout)
        var writer = ByteWriter()
        query.write(to: &writer)
        return [timeoutWriter.bytes, writer.bytes]
    }
}
