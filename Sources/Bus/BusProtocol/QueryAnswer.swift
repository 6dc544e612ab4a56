internal import EventBus

/// What a query gets: a message, or the reason why there is none.
/// Frames: the number of the query (8), code (1), reason (text) | header, data (blobs), with code 0.
package struct QueryAnswer: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case message(header: Bytes, data: Bytes)
        case failure(ProtocolError)
    }

    /// The id in the head of the query.
    package let query: UInt64
    package let content: Content

    package init(query: UInt64, content: Content) {
        self.query = query
        self.content = content
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "an answer lacks its status") }
        var status = ByteReader(first)
        query = try status.read()
        let code: UInt8 = try status.read()
        let reason = try status.text()
        try status.end()
        guard code == 0 else {
            guard frames.count == 1 else { throw ProtocolError(.malformed, "an answer has a message or a reason") }
            content = .failure(ProtocolError(.init(rawValue: code), reason))
            return
        }
        guard frames.count == 2, let last = frames.last else {
            throw ProtocolError(.malformed, "an answer has two frames: status and message")
        }
        var reader = ByteReader(last)
        let (header, data) = (try reader.blob(), try reader.blob())
        try reader.end()
        guard header.count <= Limits.headerSize, data.count <= Limits.dataSize else {
            throw ProtocolError(.tooLarge, "an answer exceeds \(Limits.dataSize) bytes of data")
        }
        content = .message(header: header, data: data)
    }

    package var frames: [[UInt8]] {
        var status = ByteWriter()
        status.write(query)
        switch content {
        case .message(let header, let data):
            status.write(UInt8(0))
            status.write(text: "")
            return [status.bytes, Self.bytes(header: header, data: data)]
        case .failure(let error):
            status.write(error.code.rawValue)
            status.write(text: error.message)
            return [status.bytes]
        }
    }

    static func bytes(header: Bytes, data: Bytes) -> [UInt8] {
        var writer = ByteWriter(capacity: header.count + data.count + 8)
        writer.write(blob: header)
        writer.write(blob: data)
        return writer.bytes
    }
}
