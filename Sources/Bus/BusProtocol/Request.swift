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
