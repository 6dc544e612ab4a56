package import EventBus

/// What a client asks of the broker, on the ingress. Each is safe to send twice.
package enum Request: Hashable, Sendable {
    case hello(Greeting)
    case publish(PublishRequest)
    case read(PageRequest)
    case heads(PageRequest)
    case documents(PageRequest)
    case claim(ClaimRequest)
    case bye(Greeting)
    /// Milliseconds since 1970.
    case locate(UInt64)
    case letters(LettersRequest)
    case serve(ServeRequest)
    case ask(AskRequest)
    case answer(QueryAnswer)
    /// The id of an ask.
    case cancel(UInt64)
    case document(DocumentRequest)
    case consumers
    /// The name of a durable consumer.
    case forget(String)

    package var operation: Operation {
        switch self {
        case .hello: .hello
        case .publish: .publish
        case .read: .read
        case .heads: .heads
        case .documents: .documents
        case .claim: .claim
        case .bye: .bye
        case .locate: .locate
        case .letters: .letters
        case .serve: .serve
        case .ask: .ask
        case .answer: .answer
        case .cancel: .cancel
        case .document: .document
        case .consumers: .consumers
        case .forget: .forget
        }
    }

    package func frames(id: UInt64) -> [[UInt8]] {
        let body: [[UInt8]] =
            switch self {
            case .hello(let greeting), .bye(let greeting): greeting.frames
            case .publish(let request): request.frames
            case .read(let request), .heads(let request), .documents(let request): request.frames
            case .claim(let request): request.frames
            case .locate(let number), .cancel(let number): [Self.bytes(number)]
            case .letters(let request): request.frames
            case .serve(let request): request.frames
            case .ask(let request): request.frames
            case .answer(let answer): answer.frames
            case .document(let request): request.frames
            case .consumers: []
            case .forget(let consumer): [Self.bytes(consumer)]
            }
        return [RequestHead(operation: operation, id: id).bytes] + body
    }

    package init(_ operation: Operation, body: ArraySlice<[UInt8]>) throws(ProtocolError) {
        switch operation {
        case .hello: self = .hello(try Greeting(frames: body))
        case .publish: self = .publish(try PublishRequest(frames: body))
        case .read: self = .read(try PageRequest(frames: body))
        case .heads: self = .heads(try PageRequest(frames: body))
        case .documents: self = .documents(try PageRequest(frames: body))
        case .claim: self = .claim(try ClaimRequest(frames: body))
        case .bye: self = .bye(try Greeting(frames: body))
        case .locate: self = .locate(try Self.number(body))
        case .letters: self = .letters(try LettersRequest(frames: body))
        case .serve: self = .serve(try ServeRequest(frames: body))
        case .ask: self = .ask(try AskRequest(frames: body))
        case .answer: self = .answer(try QueryAnswer(frames: body))
        case .cancel: self = .cancel(try Self.number(body))
        case .document: self = .document(try DocumentRequest(frames: body))
        case .consumers:
            guard body.isEmpty else { throw ProtocolError(.malformed, "consumers has no frames") }
            self = .consumers
        case .forget: self = .forget(try Self.consumer(body))
        case .query: throw ProtocolError(.operation, "only the broker sends queries")
        }
    }

    private static func number(_ body: ArraySlice<[UInt8]>) throws(ProtocolError) -> UInt64 {
        guard let frame = body.first, body.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: a number")
        }
        var reader = ByteReader(frame)
        let number: UInt64 = try reader.read()
        try reader.end()
        return number
    }

    private static func consumer(_ body: ArraySlice<[UInt8]>) throws(ProtocolError) -> String {
        guard let frame = body.first, body.count == 1 else {
            throw ProtocolError(.malformed, "forget has one frame: consumer")
        }
        var reader = ByteReader(frame)
        let consumer = try reader.consumer()
        try reader.end()
        return consumer
    }

    private static func bytes(_ consumer: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(text: consumer)
        return writer.bytes
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(number)
        return writer.bytes
    }
}

/// What a request asks for. The operations `query` and `cancel` also travel from the broker to a client.
package enum Operation: UInt8, Sendable, CaseIterable {
    /// I am this producer, I am alive, and this is what I have seen of the journal.
    case hello = 1
    /// Append a batch.
    case publish = 2
    /// A page of the journal.
    case read = 3
    /// Which topics have grown: what a subscriber compares with what it has got.
    case heads = 4
    /// A page of the retained documents.
    case documents = 5
    /// Take part in a durable consumer.
    case claim = 6
    /// I leave; my leased documents and my partitions may go at once.
    case bye = 7
    /// Where in the journal a time is.
    case locate = 8
    /// A page of the dead letters.
    case letters = 9
    /// These are the queries that I answer.
    case serve = 10
    /// Put a query to whoever serves it.
    case ask = 11
    /// The answer to a query.
    case answer = 12
    /// A query that the broker hands to whoever serves it. It gets an answer instead of a reply.
    case query = 13
    /// Nobody waits for the answer any more.
    case cancel = 14
    /// One retained document.
    case document = 15
    /// The durable consumers, with their progress.
    case consumers = 16
    /// Remove a durable consumer.
    case forget = 17
}

/// The first frame of a request: magic, version, operation, id.
package struct RequestHead: Hashable, Sendable {
    package static let length = 12
    /// The place of the operation in its bytes.
    package static let operationIndex = 3

    package let operation: Operation
    /// Chosen by the client; the reply carries it.
    package let id: UInt64

    package init(operation: Operation, id: UInt64) {
        self.operation = operation
        self.id = id
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.write(ProtocolVersion.magic)
        writer.write(ProtocolVersion.current)
        writer.write(operation.rawValue)
        writer.write(id)
        return writer.bytes
    }

    /// The id alone, which can be read even if the rest is not understood: so that a refusal finds its request.
    package static func id(of frame: [UInt8]) -> UInt64? {
        var reader = ByteReader(frame)
        guard (try? reader.read()) == ProtocolVersion.magic,
            (try? reader.bytes(count: 2)) != nil
        else { return nil }
        return try? reader.read()
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        guard try reader.read() == ProtocolVersion.magic else {
            throw ProtocolError(.malformed, "the request does not begin with SG")
        }
        let version: UInt8 = try reader.read()
        guard version == ProtocolVersion.current else {
            throw ProtocolError(
                .version, "version \(version) of the protocol is not spoken here, but \(ProtocolVersion.current)")
        }
        let number: UInt8 = try reader.read()
        guard let operation = Operation(rawValue: number) else {
            throw ProtocolError(.operation, "operation \(number) is not known")
        }
        self.init(operation: operation, id: try reader.read())
        try reader.end()
    }
}

/// What stands at the start of every request and reply.
package enum ProtocolVersion {
    /// "SG": so that a stray connection of another protocol is told apart.
    package static let magic: UInt16 = 0x5347
    /// Grows when a frame changes its meaning.
    package static let current: UInt8 = 1
}

/// What requests and answers may measure beside. The broker refuses more; clients check before they send, because a frame
/// beyond `maximumFrameSize` makes libzmq drop the whole connection without a word.
extension Limits {
    package static let maximumFrameSize = 8 * 1024 * 1024
    /// Filters of one request.
    package static let filterCount = 1024
    /// Messages of one page, and bytes after which a page ends early.
    package static let pageCount = 256
    package static let pageSize = 256 * 1024
    /// Bytes of the reason for a rejection that a client sends; it cuts the rest.
    package static let reasonSize = 4 * 1024
    /// Rows looked at for one page, so that a rare topic in a long journal blocks the broker for no longer than this.
    package static let scanCount = 20_000
}
