/// What a client asks of the broker, on the ingress. Each is safe to send twice.
package enum Request: Hashable, Sendable {
    case hello(ProducerID)
    case publish(PublishRequest)
    case read(PageRequest)
    case heads(PageRequest)
    case documents(PageRequest)
    case claim(ClaimRequest)
    case bye(ProducerID)

    package var operation: Operation {
        switch self {
        case .hello: .hello
        case .publish: .publish
        case .read: .read
        case .heads: .heads
        case .documents: .documents
        case .claim: .claim
        case .bye: .bye
        }
    }

    package func frames(id: UInt64) -> [[UInt8]] {
        let body: [[UInt8]] =
            switch self {
            case .hello(let producer), .bye(let producer): [producer.bytes]
            case .publish(let request): request.frames
            case .read(let request), .heads(let request), .documents(let request): request.frames
            case .claim(let request): request.frames
            }
        return [RequestHead(operation: operation, id: id).bytes] + body
    }

    package init(_ operation: Operation, body: ArraySlice<[UInt8]>) throws(ProtocolError) {
        switch operation {
        case .hello: self = .hello(try Self.producer(body))
        case .publish: self = .publish(try PublishRequest(frames: body))
        case .read: self = .read(try PageRequest(frames: body))
        case .heads: self = .heads(try PageRequest(frames: body))
        case .documents: self = .documents(try PageRequest(frames: body))
        case .claim: self = .claim(try ClaimRequest(frames: body))
        case .bye: self = .bye(try Self.producer(body))
        }
    }

    private static func producer(_ body: ArraySlice<[UInt8]>) throws(ProtocolError) -> ProducerID {
        guard let frame = body.first, body.count == 1 else {
            throw ProtocolError(.malformed, "the request has one frame: the producer")
        }
        var reader = ByteReader(frame)
        let producer = try ProducerID(&reader)
        try reader.end()
        return producer
    }
}
