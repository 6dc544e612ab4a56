package import BusFormat
package import EventBus

/// A request of a client, sent to the ingress.
package enum Request: Hashable, Sendable {
    case hello(Greeting)
    case publish(PublishRequest)
    case read(PageRequest)
    case heads(PageRequest)
    case documents(PageRequest)
    case claim(ClaimRequest)
    case bye(Greeting)
    /// A time in milliseconds since 1970.
    case locate(UInt64)
    case deadLetters(DeadLettersRequest)
    case serve(ServeRequest)
    case ask(AskRequest)
    case answer(QueryAnswer)
    /// The id of the `ask` request that is cancelled.
    case cancel(UInt64)
    case document(DocumentRequest)
    case consumers
    /// The name of a durable consumer.
    case forget(String)
    case count(PageRequest)
    case documentsOfSubject(SubjectRequest)
    case end
    /// The name of a durable consumer; empty for all.
    case countDeadLetters(String)
    case listDeadLetters(DeadLettersRequest)

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
        case .deadLetters: .deadLetters
        case .serve: .serve
        case .ask: .ask
        case .answer: .answer
        case .cancel: .cancel
        case .document: .document
        case .consumers: .consumers
        case .forget: .forget
        case .count: .count
        case .documentsOfSubject: .documentsOfSubject
        case .end: .end
        case .countDeadLetters: .countDeadLetters
        case .listDeadLetters: .listDeadLetters
        }
    }

    package func frames(id: UInt64) -> [[UInt8]] {
        let body: [[UInt8]] =
            switch self {
            case .hello(let greeting), .bye(let greeting): greeting.frames
            case .publish(let request): request.frames
            case .read(let request), .heads(let request), .documents(let request), .count(let request): request.frames
            case .claim(let request): request.frames
            case .locate(let number), .cancel(let number): [Self.bytes(number)]
            case .deadLetters(let request), .listDeadLetters(let request): request.frames
            case .serve(let request): request.frames
            case .ask(let request): request.frames
            case .answer(let answer): answer.frames
            case .document(let request): request.frames
            case .documentsOfSubject(let request): request.frames
            case .consumers, .end: []
            case .forget(let consumer), .countDeadLetters(let consumer): [Self.bytes(consumer)]
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
        case .deadLetters: self = .deadLetters(try DeadLettersRequest(frames: body))
        case .serve: self = .serve(try ServeRequest(frames: body))
        case .ask: self = .ask(try AskRequest(frames: body))
        case .answer: self = .answer(try QueryAnswer(frames: body))
        case .cancel: self = .cancel(try Self.number(body))
        case .document: self = .document(try DocumentRequest(frames: body))
        case .consumers:
            try Self.requireNoFrames(body, "consumers")
            self = .consumers
        case .forget: self = .forget(try Self.consumer(body))
        case .count: self = .count(try PageRequest(frames: body))
        case .documentsOfSubject: self = .documentsOfSubject(try SubjectRequest(frames: body))
        case .end:
            try Self.requireNoFrames(body, "end")
            self = .end
        case .countDeadLetters: self = .countDeadLetters(try Self.text(body))
        case .listDeadLetters: self = .listDeadLetters(try DeadLettersRequest(frames: body))
        case .query: throw ProtocolError(.operation, "only the broker sends 'query'")
        }
    }

    private static func requireNoFrames(_ body: ArraySlice<[UInt8]>, _ name: String) throws(ProtocolError) {
        guard body.isEmpty else { throw ProtocolError(.malformed, "\(name) has no frames after its head") }
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

    private static func text(_ body: ArraySlice<[UInt8]>) throws(ProtocolError) -> String {
        guard let frame = body.first, body.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: a text")
        }
        var reader = ByteReader(frame)
        let text = try reader.text()
        try reader.end()
        return text
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

/// The operation of a request. Only the broker sends `query`; clients and the broker send `cancel`.
package enum Operation: UInt8, Sendable, CaseIterable {
    /// Reports that a producer is alive, and the part of the journal that it has seen.
    case hello = 1
    /// Publishes a batch.
    case publish = 2
    /// Reads a page of the journal.
    case read = 3
    /// Lists the topics that have messages after an offset. A subscriber compares them with the messages that it has
    /// received.
    case heads = 4
    /// Reads a page of the retained documents.
    case documents = 5
    /// Claims partitions of a durable consumer, renews a membership or leaves.
    case claim = 6
    /// Reports that a producer ends. The broker withdraws its leased documents, ends its shared memberships, and sends
    /// it no more queries.
    case bye = 7
    /// Finds the offset of the last message before a time.
    case locate = 8
    /// Reads a page of the dead letters.
    case deadLetters = 9
    /// Registers the types of queries that a client serves.
    case serve = 10
    /// Sends a query to a process that serves it.
    case ask = 11
    /// Answers a query.
    case answer = 12
    /// Hands a query to a process that serves it. Sent by the broker; the process sends an `answer` instead of a reply.
    case query = 13
    /// Reports that the answer to a query is no longer needed.
    case cancel = 14
    /// Reads one retained document.
    case document = 15
    /// Lists the durable consumers with their progress.
    case consumers = 16
    /// Removes a durable consumer.
    case forget = 17
    /// Counts the messages after an offset, up to ``Limits/lag``.
    case count = 18
    /// Reads a page of the retained documents of one type and subject.
    case documentsOfSubject = 19
    /// Asks for the end of the journal.
    case end = 20
    /// Counts the dead letters.
    case countDeadLetters = 21
    /// Reads a page of the dead letters without the data of their messages.
    case listDeadLetters = 22

    /// True if the answer has content of the journal, or needs a search up to ``Limits/scanCount`` rows.
    package var readsJournal: Bool {
        switch self {
        case .read, .heads, .documents, .document, .documentsOfSubject, .deadLetters, .listDeadLetters, .count,
            .countDeadLetters, .consumers:
            true
        default: false
        }
    }
}

/// The first frame of a request or a reply: magic, version, operation, id.
package struct RequestHead: Hashable, Sendable {
    /// The length of ``bytes``.
    package static let length = 12
    /// The index of the operation in ``bytes``.
    package static let operationIndex = 3

    package let operation: Operation
    /// The id of a request, chosen by the client; its reply has the same id. In a ``Notice``, the number of a query.
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

    /// Reads only the id, even if the version or the operation in the head is unknown. Nil if the frame is too short or
    /// does not begin with the magic.
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
                .version, "version \(version) of the protocol is not supported; use version \(ProtocolVersion.current)")
        }
        let number: UInt8 = try reader.read()
        guard let operation = Operation(rawValue: number) else {
            throw ProtocolError(.operation, "operation \(number) is unknown")
        }
        self.init(operation: operation, id: try reader.read())
        try reader.end()
    }
}

/// The constants at the start of a request.
package enum ProtocolVersion {
    /// The letters "SG". They distinguish a request of this protocol from other data.
    package static let magic: UInt16 = 0x5347
    /// The version of the protocol. It increases when the meaning of a frame changes.
    package static let current: UInt8 = 1
}

/// The limits of requests and replies.
extension Limits {
    /// The maximum size of a frame in bytes. On a larger frame libzmq closes the connection without an error, so
    /// clients check the size before they send.
    package static let maximumFrameSize = batchSize
    /// The maximum number of filters, or of types to serve, in a request. The broker refuses a request with more.
    package static let filterCount = 1024
    /// The maximum number of messages in a page.
    package static let pageCount = 256
    /// The size in bytes at which a page ends early: no further message is added.
    package static let pageSize = 256 * 1024
    /// The maximum length of the reason for a rejection, in bytes. Clients shorten a longer one.
    package static let reasonSize = 4 * 1024
    /// The maximum number of rows that are examined for a page; then the page ends early.
    package static let scanCount = 20_000
}

extension Request {
    /// The producer in whose name the request is made; nil if the request names none. That of a batch is in its head.
    package var producer: ProducerID? {
        switch self {
        case .hello(let greeting), .bye(let greeting): greeting.producer
        case .claim(let claim): claim.producer
        case .serve(let request): request.producer
        case .publish(let batch): batch.producer
        default: nil
        }
    }
}
