import EventBus
import Foundation
import Testing

@testable import BusProtocol

@Suite("What docs/wire-protocol.md shows")
struct DocumentedExchangeTests {
    private typealias Shown = DocumentedExchange
    private static let producer = ProducerID(Shown.producer)

    @Test("the exchange is what this code sends and understands, message by message")
    func exchange() throws {
        var exchange = try DocumentedExchange()
        try readsAndPublishes(&exchange)
        try consumes(&exchange)
        try asks(&exchange)
        #expect(exchange.messages.isEmpty)
    }

    private func readsAndPublishes(_ exchange: inout DocumentedExchange) throws {
        exchange.expect(.hello(Greeting(producer: Self.producer)), id: 1)
        try exchange.expect(
            .welcome(Welcome(epoch: Shown.epoch, head: 7, sequence: 0, mark: 0x77)), to: .hello, id: 1)

        let inbox = Inbox.prefix(of: ProducerID(Shown.client)) + "1"
        let confirmation = exchange.next()
        #expect(confirmation == Inbox.answer(topic: Array(inbox.utf8), epoch: Shown.epoch, head: 7))

        _ = try Shown.event.validatedForJournal()
        exchange.expect(
            .publish(PublishRequest(producer: Self.producer, sequence: 1, messages: [Shown.event])), id: 2)
        try exchange.expect(.published(epoch: Shown.epoch, offset: 8), to: .publish, id: 2)
        let live = exchange.next()
        var packet = FeedPacket(topic: Shown.event.topic, epoch: 0x2a)
        _ = packet.add(Shown.journalled(previousInPartition: 5))
        #expect(live == packet.frames)

        exchange.expect(.read(PageRequest(epoch: Shown.epoch, after: 7, prefixes: ["event."])), id: 3)
        let page = Page(epoch: Shown.epoch, through: 8, isComplete: true, messages: [Shown.journalled()])
        try exchange.expect(.page(page), to: .read, id: 3)

        exchange.expect(.heads(PageRequest(epoch: Shown.epoch, after: 7, prefixes: ["event."])), id: 0x10)
        let heads = Heads(epoch: Shown.epoch, through: 8, offsets: [Shown.event.topic: 8])
        try exchange.expect(.heads(heads), to: .heads, id: 0x10)

        exchange.expect(.documents(PageRequest(epoch: Shown.epoch, after: 0, prefixes: ["document."])), id: 0x11)
        let documents = Page(epoch: Shown.epoch, through: 8, isComplete: true, messages: [Shown.document])
        try exchange.expect(.page(documents), to: .documents, id: 0x11)
    }

    private func consumes(_ exchange: inout DocumentedExchange) throws {
        let member = ConsumerMember(.shared, id: Shown.member)
        exchange.expect(.claim(ClaimRequest(producer: Self.producer, member: member, consumer: "music")), id: 4)
        let cutOff = CutOff(type: MessageType(kind: .event, name: "LaunchFinished"), count: 3, offsets: 2...6)
        let claimed = Claimed(
            ownerEpoch: 5, epoch: Shown.epoch,
            offsets: [try #require(Partition(0x3d)): 6, try #require(Partition(0x3e)): 7], cutOffs: [cutOff])
        try exchange.expect(.claimed(claimed), to: .claim, id: 4)

        let rejection = PublishRequest(
            producer: Self.producer, sequence: 2,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerEpoch: 5, epoch: Shown.epoch, offset: 8, settled: 7,
                partition: Partition(subject: "default")),
            rejection: Shown.rejection, messages: [])
        exchange.expect(.publish(rejection), id: 5)
        try exchange.expect(.published(epoch: Shown.epoch, offset: 8), to: .publish, id: 5)

        exchange.expect(.letters(LettersRequest(after: 0, consumer: "music")), id: 0x12)
        try exchange.expect(
            .letters(Letters(isComplete: true, letters: [Shown.letter])), to: .letters, id: 0x12)
    }

    private func asks(_ exchange: inout DocumentedExchange) throws {
        let types = [MessageType(kind: .query, name: "Songs")]
        exchange.expect(.serve(ServeRequest(producer: ProducerID(Shown.server), types: types)), id: 39)
        try exchange.expect(.done, to: .serve, id: 39)
        exchange.expect(.ask(AskRequest(timeout: 5000, query: Shown.query)), id: 6)
        let notice = exchange.next()
        #expect(notice == Notice.query(id: 9, Shown.query).frames)
        let content = QueryAnswer.Content.message(header: Shown.answer.header, data: Shown.answer.data)
        exchange.expect(.answer(QueryAnswer(query: 9, content: content)), id: 40)
        try exchange.expect(.done, to: .answer, id: 40)
        try exchange.expect(.answer(header: Shown.answer.header, data: Shown.answer.data), to: .ask, id: 6)
    }

    @Test("the table of operations has all that a client sends, and no other")
    func operations() throws {
        let rows = try DocumentedExchange.text().matches(of: #/(?m)^\| (\d+ [a-z]+) \|/#).map { String($0.1) }
        // A query is what the broker sends; its section has it.
        let sent = BusProtocol.Operation.allCases.filter { $0 != .query }
        #expect(rows == sent.map { "\($0.rawValue) \($0)" })
    }
}
