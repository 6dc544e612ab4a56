import Testing

@testable import BusProtocol

@Suite("Requests and replies on the wire")
struct RequestTests {
    static let message = PublishedMessage(
        topic: "command.PlaylistSelected.3e", subject: "default", key: "", header: [1, 2], data: [3])

    static let requests: [Request] = [
        .hello(ProducerID()), .bye(ProducerID()),
        .publish(PublishRequest(producer: ProducerID(), sequence: 7, messages: [message, message])),
        .publish(
            PublishRequest(
                producer: ProducerID(), sequence: 1, isLeased: true,
                checkpoint: CheckpointFrame(consumer: "music", ownerEpoch: 2, epoch: 3, offset: 4), messages: [])),
        .read(PageRequest(epoch: 1, after: 2, prefixes: ["command.", "document.NavigationState.3f"])),
        .heads(PageRequest(epoch: 1, after: 2, prefixes: [])),
        .documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."])),
        .claim(ClaimRequest(token: ProducerID(), consumer: "coordinator")),
    ]

    @Test("every request reads back as it was written", arguments: requests)
    func roundTrip(request: Request) throws {
        let frames = request.frames(id: 42)
        let head = try RequestHead(frames[0])
        #expect(head.id == 42)
        #expect(try Request(head.operation, body: frames.dropFirst()) == request)
    }

    static let replies: [(Operation, Reply)] = [
        (.hello, .welcome(Welcome(epoch: 1, head: 2, sequence: 3))), (.publish, .published(epoch: 1, offset: 2)),
        (.claim, .claimed(ownerEpoch: 1, epoch: 2, offset: 3)),
        (.publish, .refused(ProtocolError(.fenced, "taken over"))),
        (.heads, .heads(Heads(epoch: 1, through: 9, offsets: ["event.A.00": 4, "event.B.01": 9]))),
        (
            .read,
            .page(
                Page(
                    epoch: 1, through: 9, isComplete: true,
                    messages: [
                        FeedMessage(topic: "event.A.00", epoch: 1, offset: 9, previous: 4, header: [1], data: [])
                    ]))
        ),
    ]

    @Test("every reply reads back as it was written, with the id of its request", arguments: replies)
    func replyRoundTrip(operation: Operation, reply: Reply) throws {
        let read = try Reply.read(reply.frames(to: RequestHead(operation: operation, id: 5)))
        #expect(read.id == 5)
        #expect(read.reply == reply)
    }

    @Test("a request cut short anywhere is refused, never trapped on", arguments: requests)
    func truncated(request: Request) {
        let frames = request.frames(id: 1)
        for index in frames.indices {
            for length in 0..<frames[index].count {
                var cut = frames
                cut[index] = Array(cut[index].prefix(length))
                _ = try? Request(RequestHead(cut[0]).operation, body: cut.dropFirst())
            }
            var shorter = frames
            shorter.remove(at: index)
            _ = try? Request(request.operation, body: shorter.dropFirst())
        }
        #expect(throws: ProtocolError.self) { try RequestHead(Array(frames[0].dropLast())) }
    }

    @Test("another version is refused as such, and its id is still found")
    func foreignVersion() throws {
        var frame = RequestHead(operation: .hello, id: 77).bytes
        frame[2] = 9
        #expect(throws: ProtocolError(.version, "version 9 of the protocol is not spoken here, but 1")) {
            try RequestHead(frame)
        }
        #expect(RequestHead.id(of: frame) == 77)
    }

    @Test("random bytes are never trapped on")
    func noise() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let frames = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
                (0..<Int.random(in: 0..<64, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            for operation in Operation.allCases {
                _ = try? Request(operation, body: frames[...])
            }
            _ = try? Reply.read(frames)
            _ = try? FeedMessage(frames: frames)
        }
    }
}
