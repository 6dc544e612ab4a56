import BusFormat
import EventBus
import Foundation
import Testing

@testable import BusProtocol

@Suite("Requests on the wire")
struct RequestTests {
    static let message = PublishedMessage(
        topic: "command.PlaylistSelected.3e", subject: "default", key: "", header: [1, 2], data: [3])
    static let query = PublishedMessage(
        topic: "query.Songs.3e", subject: "default", key: "", header: [4], data: [5, 6])

    static let batches: [PublishRequest] = [
        PublishRequest(producer: ProducerID(), sequence: 7, messages: [message, message]),
        PublishRequest(producer: ProducerID(), sequence: 8, messages: []),
        PublishRequest(producer: ProducerID(), sequence: 1, isLeased: true, messages: [message]),
        PublishRequest(producer: ProducerID(), sequence: 2, isTransient: true, messages: [message]),
        PublishRequest(
            producer: ProducerID(), sequence: 3,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerGeneration: 2, epoch: 3, offset: 4, settled: 3, partition: nil),
            messages: []),
        PublishRequest(
            producer: ProducerID(), sequence: 4, isLeased: true,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerGeneration: 2, epoch: 3, offset: 4, settled: 3,
                partition: Partition(subject: "default")),
            rejection: RejectionFrame(attempts: 4, code: "music.offline", reason: "nobody answers"),
            resolvedDeadLetters: [5, .max], messages: [message]),
        PublishRequest(producer: ProducerID(), sequence: 5, resolvedDeadLetters: [9], messages: []),
        PublishRequest(
            producer: ProducerID(), sequence: 6,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerGeneration: 2, epoch: 3, offset: 4, settled: 3,
                partition: Partition(subject: "default"), previous: 2),
            messages: []),
    ]

    static let requests: [Request] =
        batches.map(Request.publish) + [
            .hello(Greeting(producer: ProducerID(), epoch: 1, offset: 2, head: 3, mark: 4)),
            .hello(Greeting(producer: ProducerID(), epoch: 1, offset: 2, head: 3, mark: 4, asksForMore: true)),
            .bye(Greeting(producer: ProducerID(), epoch: 1, offset: 2)),
            .read(PageRequest(epoch: 1, after: 2, prefixes: ["command.", "document.NavigationState.3f"])),
            .heads(PageRequest(epoch: 1, after: 2, prefixes: [])),
            .documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."])),
            .claim(ClaimRequest(producer: ProducerID(), member: .exclusive, consumer: "coordinator")),
            .claim(ClaimRequest(producer: ProducerID(), member: .shared, consumer: "music")),
            .claim(ClaimRequest(producer: ProducerID(), member: .shared, consumer: "music", purpose: .renewal)),
            .claim(ClaimRequest(producer: ProducerID(), member: .shared, consumer: "music", purpose: .leave)),
            .locate(1_700_000_000_000),
            .deadLetters(DeadLettersRequest(after: 0, consumer: "")),
            .deadLetters(DeadLettersRequest(after: 7, consumer: "music")),
            .serve(ServeRequest(producer: ProducerID(), types: [MessageType(kind: .query, name: "Songs")])),
            .serve(ServeRequest(producer: ProducerID(), types: [])),
            .ask(AskRequest(timeout: 5000, query: query)),
            .answer(QueryAnswer(query: 1, content: .message(header: [1], data: [2, 3]))),
            .answer(QueryAnswer(query: 2, content: .failure(ProtocolError(.cancelled, "stopped")))),
            .cancel(3),
            .countDeadLetters(""), .countDeadLetters("music"),
            .listDeadLetters(DeadLettersRequest(after: 7, consumer: "music")),
            .consumers, .end, .forget("music"),
            .count(PageRequest(epoch: 1, after: 2, prefixes: ["event.A.", "command."])),
        ] + documents.map(Request.document)

    static let documents: [DocumentRequest] = ["", "ios"].compactMap { key in
        let type = MessageType(kind: .document, name: "Setting")
        return try? DocumentRequest(epoch: 1, type: type, subject: "default", key: key)
    }

    @Test("A look-up that no document can match is refused with the same code as its publication")
    func lookUps() {
        let setting = MessageType(kind: .document, name: "Setting")
        let mistakes: [(MessageType, String, String, ProtocolError.Code)] = [
            (MessageType(kind: .event, name: "A"), "default", "", .topic),
            (MessageType(kind: .document, name: "1"), "default", "", .topic),
            (setting, "e\u{301}", "", .malformed), (setting, "default", "a\u{0}", .malformed),
            (setting, "default", String(repeating: "k", count: 256), .tooLarge),
        ]
        for (type, subject, key, code) in mistakes {
            var writer = ByteWriter()
            writer.write(UInt64(0))
            for text in [type.description, subject, key] { writer.write(text: text) }
            let error = #expect(throws: ProtocolError.self) { try Request(.document, body: [writer.bytes]) }
            #expect(error?.code == code, "\(type) \(subject) \(key)")
        }
    }

    @Test("Every request reads back as it was written", arguments: requests)
    func roundTrip(request: Request) throws {
        let frames = request.frames(id: 42)
        let head = try RequestHead(frames[0])
        #expect(head.id == 42)
        #expect(try Request(head.operation, body: frames.dropFirst()) == request)
    }

    @Test("A request that ends early, or has further bytes, is refused", arguments: requests)
    func cut(request: Request) {
        let frames = request.frames(id: 1)
        for index in frames.indices {
            for length in 0..<frames[index].count {
                var shorter = frames
                shorter[index] = Array(shorter[index].prefix(length))
                #expect(Self.read(shorter) != request, "frame \(index) cut to \(length) bytes")
            }
            var longer = frames
            longer[index].append(0)
            #expect(Self.read(longer) != request, "frame \(index) with a byte more")
            var fewer = frames
            fewer.remove(at: index)
            #expect(Self.read(fewer) != request, "without frame \(index)")
        }
        #expect(Self.read(frames + [[]]) != request)
    }

    static func read(_ frames: [[UInt8]]) -> Request? {
        guard let first = frames.first, let head = try? RequestHead(first) else { return nil }
        return try? Request(head.operation, body: frames.dropFirst())
    }

    @Test("The last byte of a long hello is 1, and that of an extent 0 or 1")
    func flags() throws {
        for byte in UInt8.min...UInt8.max {
            let short = Greeting(producer: ProducerID()).frames[0]
            let greeting = try? Greeting(frames: [short + [byte]])
            #expect((greeting?.asksForMore == true) == (byte == 1), "hello \(byte)")
            let frames = RequestHead(operation: .read, id: 1)
            let page = [frames.bytes, [0, 0, 0], [UInt8](repeating: 0, count: 16) + [byte], []]
            #expect(((try? Reply.read(page)) != nil) == (byte <= 1), "extent \(byte)")
        }
    }

    @Test("Another version is refused as such, with the id of the request")
    func foreignVersion() throws {
        var frame = RequestHead(operation: .hello, id: 77).bytes
        frame[2] = 9
        #expect(throws: ProtocolError(.version, "version 9 of the protocol is not supported; use version 1")) {
            try RequestHead(frame)
        }
        #expect(RequestHead.id(of: frame) == 77)
    }

    @Test("An unknown operation is refused as such, and so is one that only the broker sends")
    func foreignOperation() throws {
        var frame = RequestHead(operation: .hello, id: 78).bytes
        frame[3] = 99
        #expect(throws: ProtocolError(.operation, "operation 99 is unknown")) { try RequestHead(frame) }
        #expect(throws: ProtocolError(.operation, "only the broker sends 'query'")) { try Request(.query, body: []) }
    }

    @Test("A text that is too long is cut between two characters")
    func longText() throws {
        var writer = ByteWriter()
        writer.write(text: "a" + String(repeating: "é", count: 40_000))
        writer.write(text: "next")
        var reader = ByteReader(writer.bytes)
        #expect(try reader.text() == "a" + String(repeating: "é", count: 32_767))
        #expect(try reader.text() == "next")
        #expect(["aé".prefix(utf8: 2), "aé".prefix(utf8: 3), "é".prefix(utf8: 1)] == ["a", "aé", ""])
    }
}
