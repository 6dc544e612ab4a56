package import BusFormat

/// A reply of the broker. Frames: head (that of the request) | status (code, text) | the result of the operation.
package enum Reply: Hashable, Sendable {
    case welcome(Welcome)
    /// The batch was accepted. The offset is that of its last message, or an offset that the journal has reached if it
    /// recorded none; 0 for a transient batch.
    case published(epoch: UInt64, offset: UInt64)
    case page(Page)
    case heads(Heads)
    case claimed(Claimed)
    /// The offset of the last message before a time; 0 if there is none.
    case located(epoch: UInt64, offset: UInt64)
    /// The offset of the last message of the journal.
    case end(epoch: UInt64, offset: UInt64)
    /// The number of matching messages, at most ``Limits/lag``, or of dead letters.
    case counted(epoch: UInt64, count: UInt64)
    case deadLetters(DeadLetters)
    /// Dead letters without the data of their messages.
    case deadLetterSummaries(DeadLetters)
    case consumers(ConsumerList)
    /// The success of a request that has no result: serve, answer, cancel and forget.
    case done
    /// The answer to a query. On a bus with keys, a frame with its origin follows.
    case answer(header: Bytes, data: Bytes, VerifiedOrigin? = nil)
    case refused(ProtocolError)

    package func frames(to head: RequestHead) -> [[UInt8]] {
        frames(head: head.bytes)
    }

    /// Does the same as ``frames(to:)``, with the bytes of a received head, which may be invalid.
    package func frames(head: [UInt8]) -> [[UInt8]] {
        guard case .refused(let error) = self else { return Self.successFrames(head: head, body: body) }
        return [head, Self.status(code: error.code.rawValue, text: error.message)]
    }

    static func successFrames(head: [UInt8], body: [[UInt8]]) -> [[UInt8]] {
        [head, successStatus] + body
    }

    private static let successStatus = status(code: 0, text: "")

    private static func status(code: UInt8, text: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(code)
        writer.write(text: text)
        return writer.bytes
    }

    private var body: [[UInt8]] {
        switch self {
        case .welcome(let welcome): [welcome.bytes]
        case .published(let epoch, let number), .located(let epoch, let number), .counted(let epoch, let number),
            .end(let epoch, let number):
            [Self.numbers(epoch, number)]
        case .page(let page): page.frames
        case .heads(let heads): heads.frames
        case .claimed(let claimed): claimed.frames
        case .deadLetters(let deadLetters): deadLetters.frames(isList: false)
        case .deadLetterSummaries(let deadLetters): deadLetters.frames(isList: true)
        case .consumers(let consumers): consumers.frames
        case .answer(let header, let data, let origin):
            [QueryAnswer.bytes(header: header, data: data)] + (origin.map { [$0.bytes] } ?? [])
        case .done, .refused: []
        }
    }

    /// Reads a reply and the id of the request that it answers.
    package static func read(_ frames: [[UInt8]]) throws(ProtocolError) -> (id: UInt64, reply: Reply) {
        guard frames.count >= 2 else { throw ProtocolError(.malformed, "a reply has at least two frames") }
        guard let id = RequestHead.id(of: frames[0]) else { throw ProtocolError(.malformed, "a reply lacks its id") }
        var status = ByteReader(frames[1])
        let code: UInt8 = try status.read()
        let text = try status.text()
        guard code == 0 else { return (id, .refused(ProtocolError(.init(rawValue: code), text))) }
        return (id, try Reply(RequestHead(frames[0]).operation, body: frames[2...]))
    }

    private init(_ operation: Operation, body: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = body.first else {
            guard [.serve, .answer, .cancel, .forget].contains(operation) else {
                throw ProtocolError(.malformed, "a reply lacks its body")
            }
            self = .done
            return
        }
        var reader = ByteReader(first)
        switch operation {
        case .hello, .bye: self = .welcome(try Welcome(first))
        case .publish: self = .published(epoch: try reader.read(), offset: try reader.number())
        case .read, .documents, .document, .documentsOfSubject: self = .page(try Page(frames: body))
        case .heads: self = .heads(try Heads(frames: body))
        case .claim: self = .claimed(try Claimed(frames: body))
        case .locate: self = .located(epoch: try reader.read(), offset: try reader.number())
        case .end: self = .end(epoch: try reader.read(), offset: try reader.number())
        case .count, .countDeadLetters: self = .counted(epoch: try reader.read(), count: try reader.number())
        case .deadLetters: self = .deadLetters(try DeadLetters(frames: body, isList: false))
        case .listDeadLetters: self = .deadLetterSummaries(try DeadLetters(frames: body, isList: true))
        case .ask:
            let origin = try body.count == 2 ? VerifiedOrigin(body[body.startIndex + 1]) : nil
            self = .answer(header: try reader.blob(), data: try reader.blob(), origin)
        case .consumers: self = .consumers(try ConsumerList(frames: body))
        case .serve, .answer, .query, .cancel, .forget:
            throw ProtocolError(.malformed, "a reply has an unexpected body")
        }
    }

    private static func numbers(_ numbers: UInt64...) -> [UInt8] {
        var writer = ByteWriter(capacity: numbers.count * 8)
        numbers.forEach { writer.write($0) }
        return writer.bytes
    }
}
