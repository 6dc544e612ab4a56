import EventBus
import Foundation
import Testing

@testable import BusProtocol

@Suite("The exchange that docs/wire-protocol.md shows")
struct DocumentedExchangeTests {
    static let producer = ProducerID(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
    static let member = UUID(
        uuid: (0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff))

    static let event = PublishedMessage(
        topic: "event.LaunchFinished.3e", subject: "default", key: "",
        header: bytes(
            #"{"id":"1","source":"me","specversion":"1.0","subject":"default","type":"event.LaunchFinished"}"#),
        data: bytes("{}"))
    static func journalled(previousInPartition: UInt64 = 0) -> FeedMessage {
        FeedMessage(
            topic: event.topic, epoch: 0x2a, offset: 8, previous: 0, previousInPartition: previousInPartition,
            header: event.header, data: event.data)
    }
    static let query = PublishedMessage(
        topic: "query.Songs.3e", subject: "default", key: "",
        header: bytes(#"{"id":"2","source":"me","specversion":"1.0","subject":"default","type":"query.Songs"}"#),
        data: bytes(#"{"playlist":"p1"}"#))
    static let answer = (
        header: bytes(
            #"{"causationid":"2","id":"3","source":"you","specversion":"1.0","subject":"default","type":"query.Songs"}"#
        ),
        data: bytes(#"{"songs":[]}"#)
    )

    static func bytes(_ text: String) -> Bytes { Array(text.utf8)[...] }

    @Test("is what this code sends and understands, message by message")
    func exchange() throws {
        var messages = try DocumentedExchange().messages[...]
        func expect(_ request: Request, id: UInt64) {
            let frames = messages.popFirst()
            #expect(frames == request.frames(id: id))
        }
        func expect(_ reply: Reply, to operation: BusProtocol.Operation, id: UInt64) throws {
            let frames = messages.popFirst() ?? []
            #expect(frames == reply.frames(to: RequestHead(operation: operation, id: id)))
            let read = try Reply.read(frames)
            #expect(read.reply == reply)
        }

        expect(.hello(Greeting(producer: Self.producer)), id: 1)
        try expect(.welcome(Welcome(epoch: 0x2a, head: 7, sequence: 0, mark: 0x77)), to: .hello, id: 1)

        _ = try Self.event.validatedForJournal()
        expect(.publish(PublishRequest(producer: Self.producer, sequence: 1, messages: [Self.event])), id: 2)
        try expect(.published(epoch: 0x2a, offset: 8), to: .publish, id: 2)
        let live = messages.popFirst()
        #expect(live == Self.journalled(previousInPartition: 5).frames)

        expect(.read(PageRequest(epoch: 0x2a, after: 7, prefixes: ["event."])), id: 3)
        let page = Page(epoch: 0x2a, through: 8, isComplete: true, messages: [Self.journalled()])
        try expect(.page(page), to: .read, id: 3)

        expect(
            .claim(
                ClaimRequest(
                    producer: Self.producer, member: ConsumerMember(.shared, id: Self.member), consumer: "music")),
            id: 4)
        try expect(.claimed(try Self.claimed()), to: .claim, id: 4)
        expect(.publish(Self.rejection), id: 5)
        try expect(.published(epoch: 0x2a, offset: 8), to: .publish, id: 5)

        expect(.ask(AskRequest(timeout: 5000, query: Self.query)), id: 6)
        let notice = messages.popFirst()
        #expect(notice == Notice.query(id: 9, Self.query).frames)
        let content = QueryAnswer.Content.message(header: Self.answer.header, data: Self.answer.data)
        expect(.answer(QueryAnswer(query: 9, content: content)), id: 40)
        try expect(.done, to: .answer, id: 40)
        try expect(.answer(header: Self.answer.header, data: Self.answer.data), to: .ask, id: 6)
        #expect(messages.isEmpty)
    }

    private static func claimed() throws -> Claimed {
        let cutOff = CutOff(type: MessageType(kind: .event, name: "LaunchFinished"), count: 3, offsets: 2...6)
        return Claimed(
            ownerEpoch: 5, epoch: 0x2a, offsets: [try #require(Partition(0x3d)): 6, try #require(Partition(0x3e)): 7],
            cutOffs: [cutOff])
    }

    private static var rejection: PublishRequest {
        PublishRequest(
            producer: producer, sequence: 2,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerEpoch: 5, epoch: 0x2a, offset: 8, settled: 7,
                partition: Partition(subject: "default")),
            rejection: RejectionFrame(attempts: 4, code: "music.offline", reason: "The player is not there."),
            messages: [])
    }
}
