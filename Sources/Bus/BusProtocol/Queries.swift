package import BusFormat
package import EventBus

/// A query for a process that serves its type. Frames: timeout in milliseconds (4) | the message as in publish.
package struct AskRequest: Hashable, Sendable {
    /// The time to wait for an answer, in milliseconds.
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

/// The answer to a query: a message, or an error.
/// Frames: the number of the query (8), code (1), reason (text) | header, data (blobs), only if the code is 0.
package struct QueryAnswer: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case message(header: Bytes, data: Bytes)
        case failure(ProtocolError)
    }

    /// The number of the query: the id in the head of the broker's ``Notice``.
    package let query: UInt64
    package let content: Content

    package init(query: UInt64, content: Content) {
        self.query = query
        self.content = content
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else {
            throw ProtocolError(.malformed, "an answer lacks its frame 'status': query, code, reason")
        }
        var status = ByteReader(first)
        query = try status.read()
        let code: UInt8 = try status.read()
        let reason = try status.text()
        try status.end()
        guard code == 0 else {
            guard frames.count == 1 else {
                throw ProtocolError(.malformed, "an answer has either a reason or a message")
            }
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
            throw ProtocolError(
                .tooLarge,
                "an answer exceeds \(Limits.headerSize) bytes of header or \(Limits.dataSize) bytes of data")
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

/// All types of queries that a client serves from now on. Frames: producer (16) | one for each type.
package struct ServeRequest: Hashable, Sendable {
    /// The producer of the client. When it falls silent, it gets no more queries.
    package let producer: ProducerID
    package let types: [MessageType]

    package init(producer: ProducerID, types: [MessageType]) {
        self.producer = producer
        self.types = types
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "serve lacks its frame 'producer'") }
        var reader = ByteReader(first)
        producer = try ProducerID(&reader)
        try reader.end()
        guard frames.count - 1 <= Limits.filterCount else {
            throw ProtocolError(.tooLarge, "a client serves at most \(Limits.filterCount) types of queries")
        }
        var types: [MessageType] = []
        for frame in frames.dropFirst() {
            guard let text = String(validating: frame, as: UTF8.self), let type = MessageType(text),
                type.kind == .query
            else { throw ProtocolError(.topic, "serve names a type that is not a query") }
            types.append(type)
        }
        self.types = types
    }

    package var frames: [[UInt8]] {
        [producer.bytes] + types.map { Array($0.description.utf8) }
    }
}

/// A message that the broker sends to a client that serves queries, without a request. The id in its head is the number
/// of the query.
/// Frames: head | the message as in publish | on a bus with keys, its origin. A cancellation has only the head.
package enum Notice: Hashable, Sendable {
    case query(id: UInt64, PublishedMessage, VerifiedOrigin? = nil)
    case cancel(id: UInt64)

    package var frames: [[UInt8]] {
        switch self {
        case .query(let id, let message, let origin):
            var writer = ByteWriter()
            message.write(to: &writer)
            return [RequestHead(operation: .query, id: id).bytes, writer.bytes] + (origin.map { [$0.bytes] } ?? [])
        case .cancel(let id): return [RequestHead(operation: .cancel, id: id).bytes]
        }
    }

    /// Nil if the frames are a reply. A reply has at least two frames and never begins with a head of the operation
    /// `query`.
    package init?(_ frames: [[UInt8]]) throws(ProtocolError) {
        guard let first = frames.first, let head = try? RequestHead(first) else { return nil }
        switch (head.operation, frames.count) {
        case (.query, 2), (.query, 3):
            var reader = ByteReader(frames[1])
            let origin = try frames.count == 3 ? VerifiedOrigin(frames[2]) : nil
            self = .query(id: head.id, try PublishedMessage(&reader), origin)
        case (.cancel, 1): self = .cancel(id: head.id)
        default: return nil
        }
    }
}
