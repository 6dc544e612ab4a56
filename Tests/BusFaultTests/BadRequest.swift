import BusFormat
import BusProtocol
import EventBus

/// A request that a broker refuses.
struct BadRequest: Sendable {
    let name: String
    let frames: [[UInt8]]
    let code: UInt8
    /// True if the broker counts it as input that does not follow the protocol.
    let isNoRequest: Bool

    private init(
        _ name: String, _ frames: [[UInt8]], _ code: ProtocolError.Code, isNoRequest: Bool = true
    ) {
        (self.name, self.frames, self.code, self.isNoRequest) = (name, frames, code.rawValue, isNoRequest)
    }

    static let all = heads + frameCounts + texts + topics

    private static let heads: [BadRequest] = [
        BadRequest("an empty frame", [[]], .malformed),
        BadRequest("half a head", [Array(head(.hello).prefix(6))], .malformed),
        BadRequest("more than a head", [head(.hello) + [0]], .malformed),
        BadRequest("no magic", [Array("XX".utf8) + head(.hello).dropFirst(2)], .malformed),
        BadRequest("another version", [[0x53, 0x47, 2] + head(.hello).dropFirst(3)], .version),
        BadRequest("version 0", [[0x53, 0x47, 0] + head(.hello).dropFirst(3)], .version),
        BadRequest("an operation that there is not", [[0x53, 0x47, 1, 99] + head(.hello).dropFirst(4)], .operation),
        BadRequest(
            "a long hello that ends with 2", [head(.hello), [UInt8](repeating: 1, count: 48) + [2]], .malformed),
        BadRequest("8 MiB of nothing", [[UInt8](repeating: 0, count: Limits.maximumFrameSize)], .malformed),
    ]

    /// Requests of every operation except `query`, with a wrong number of frames.
    private static let frameCounts: [BadRequest] = Operation.allCases.filter { $0 != .query }.flatMap { operation in
        [
            [.consumers, .end].contains(operation)
                ? BadRequest("\(operation) with a body", [head(operation), cursor], .malformed)
                : BadRequest("\(operation) without a body", [head(operation)], .malformed),
            BadRequest(
                "\(operation) with 3000 frames",
                [head(operation)] + [[UInt8]](repeating: [UInt8](repeating: 0, count: 16), count: 3000),
                [.read, .heads, .documents, .serve, .count].contains(operation) ? .tooLarge : .malformed),
        ]
    }

    private static let texts: [BadRequest] = [
        BadRequest(
            "a consumer that is no UTF-8", [head(.claim), [UInt8](repeating: 1, count: 33) + [0, 1, 0xff]],
            .malformed),
        BadRequest(
            "letters of no UTF-8", [head(.deadLetters), [UInt8](repeating: 0, count: 8) + [0, 1, 0xff]], .malformed),
        BadRequest("a filter that is no UTF-8", [head(.read), cursor, [0xff, 0x2e]], .topic),
        BadRequest("a filter without an end", [head(.read), cursor, Array("event.A".utf8)], .topic),
        BadRequest("a look-up of an event", [head(.document), lookUp(of: "event.A", "default")], .topic),
        BadRequest("a look-up of no subject", [head(.document), lookUp(of: "document.A", "e\u{301}")], .malformed),
        BadRequest("a consumer without a name", [head(.forget), [0, 0]], .tooLarge),
        BadRequest("a type that is none", [head(.serve), [UInt8](repeating: 1, count: 16), [1, 2, 3]], .topic),
    ]

    private static let topics: [BadRequest] = [
        publishing("a topic of 241 bytes", Array("event.\(String(repeating: "A", count: 232)).3e".utf8), .topic),
        publishing("a topic that begins with 0", [0] + Array("event.A.3e".utf8), .topic),
        publishing("a topic that begins with 1", [1] + Array("event.A.3e".utf8), .topic),
        publishing("a topic that is no UTF-8", Array("event.A".utf8) + [0xff] + Array(".3e".utf8), .malformed),
        publishing("a topic of another partition", Array("event.A.3f".utf8), .topic),
        publishing("an inbox for a topic", Array("~event.3e".utf8), .topic),
        publishing("a subject that is no UTF-8", Array("event.A.3e".utf8), subject: [0xff], .malformed),
        publishing("a header that is too large", Array("event.A.3e".utf8), header: Limits.headerSize + 1, .tooLarge),
        publishing("a key that is too long", Array("event.A.3e".utf8), key: Limits.nameLength + 1, .tooLarge),
    ]

    private static let cursor = [UInt8](repeating: 0, count: 16)

    private static func lookUp(of type: String, _ subject: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt64(0))
        for text in [type, subject, ""] { writer.write(text: text) }
        return writer.bytes
    }

    private static func head(_ operation: Operation) -> [UInt8] {
        RequestHead(operation: operation, id: 7).bytes
    }

    /// The first batch of a producer. Its frames are valid, but its message is not.
    private static func publishing(
        _ name: String, _ topic: [UInt8], subject: [UInt8] = Array("default".utf8), key: Int = 0, header: Int = 2,
        _ code: ProtocolError.Code
    ) -> BadRequest {
        let batch = PublishRequest(producer: ProducerID(), sequence: 1, messages: [])
        var frames = Request.publish(batch).frames(id: 7)
        frames[1][frames[1].count - 1] = 1
        var message = ByteWriter()
        for text in [topic, subject, [UInt8](repeating: 0x6b, count: key)] {
            message.write(UInt16(text.count))
            message.write(bytes: text)
        }
        message.write(blob: Bytes(repeating: 0x7b, count: header))
        message.write(blob: [0x7b, 0x7d])
        return BadRequest(name, frames + [message.bytes], code, isNoRequest: false)
    }
}
