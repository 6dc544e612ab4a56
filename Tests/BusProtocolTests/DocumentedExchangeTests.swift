import BusFormat
import EventBus
import Foundation
import Testing

@testable import BusProtocol

@Suite("Exchanges of the wire protocol")
struct DocumentedExchangeTests {
    private typealias Shown = DocumentedExchange
    private static let producer = ProducerID(Shown.producer)

    @Test("The exchange equals what the code sends and reads, message by message")
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
            ownerGeneration: 5, epoch: Shown.epoch,
            offsets: [try #require(Partition(0x3d)): 6, try #require(Partition(0x3e)): 7], cutOffs: [cutOff])
        try exchange.expect(.claimed(claimed), to: .claim, id: 4)

        let rejection = PublishRequest(
            producer: Self.producer, sequence: 2,
            checkpoint: CheckpointFrame(
                consumer: "music", ownerGeneration: 5, epoch: Shown.epoch, offset: 8, settled: 7,
                partition: Partition(subject: "default")),
            rejection: Shown.rejection, messages: [])
        exchange.expect(.publish(rejection), id: 5)
        try exchange.expect(.published(epoch: Shown.epoch, offset: 8), to: .publish, id: 5)

        exchange.expect(.deadLetters(DeadLettersRequest(after: 0, consumer: "music")), id: 0x12)
        try exchange.expect(
            .deadLetters(DeadLetters(isComplete: true, deadLetters: [Shown.deadLetter])), to: .deadLetters, id: 0x12)
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

    @Test("The table of operations has exactly those that a client sends")
    func operations() throws {
        let page = try DocumentedExchange.text("wire-protocol.md")
        let rows = page.matches(of: #/(?m)^\| (\d+ [a-zA-Z]+) \|/#).map { String($0.1) }
        // The table does not contain `query`, which only the broker sends; the page describes it in another section.
        let sent = BusProtocol.Operation.allCases.filter { $0 != .query }
        #expect(rows == sent.map { "\($0.rawValue) \($0)" })
    }
}

/// The example docs/examples/exchange.txt. Each line is a frame; a line with a deeper indent continues it. The bytes in
/// quotes are sent as they are; the others are hexadecimal.
struct DocumentedExchange {
    /// The remaining messages of the example, each as its frames.
    private(set) var messages: ArraySlice<[[UInt8]]>

    /// The text of a file in the folder docs.
    static func text(_ name: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/\(name)").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8)
    }

    init() throws {
        let lines = try Self.text("examples/exchange.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
        messages = try lines.reduce(into: []) { messages, line in
            let bytes = try Self.bytes(line.drop { " →←".contains($0) })
            if !line.hasPrefix("  ") {
                messages.append([bytes])
            } else if let message = messages.indices.last {
                if line.hasPrefix("    ") {
                    messages[message][messages[message].count - 1] += bytes
                } else {
                    messages[message].append(bytes)
                }
            }
        }
    }

    /// The frames of the next message; nil after the last.
    mutating func next() -> [[UInt8]]? { messages.popFirst() }

    mutating func expect(_ request: Request, id: UInt64) {
        let frames = next()
        #expect(frames == request.frames(id: id))
    }

    mutating func expect(_ reply: Reply, to operation: BusProtocol.Operation, id: UInt64) throws {
        let frames = next() ?? []
        #expect(frames == reply.frames(to: RequestHead(operation: operation, id: id)))
        let read = try Reply.read(frames)
        #expect(read.reply == reply)
    }

    /// A token that is neither quoted nor an even number of hexadecimal digits.
    struct NotHexadecimal: Error {
        let token: Substring
    }

    private static func bytes(_ line: Substring) throws -> [UInt8] {
        try line.matches(of: #/'([^']*)'|"([^"]*)"|(\S+)/#).flatMap { match in
            let (_, json, text, token) = match.output
            if let quoted = json ?? text { return Array(quoted.utf8) }
            guard let token, token.count.isMultiple(of: 2) else { throw NotHexadecimal(token: token ?? "") }
            return try stride(from: 0, to: token.count, by: 2).map { offset in
                guard let byte = UInt8(token.dropFirst(offset).prefix(2), radix: 16) else {
                    throw NotHexadecimal(token: token)
                }
                return byte
            }
        }
    }
}

/// The values that the example uses.
extension DocumentedExchange {
    static let epoch: UInt64 = 0x2a
    static let producer = id(of: 0x00)
    static let client = id(of: 0x10)
    static let server = id(of: 0x20)
    static let member = id(of: 0xf0)

    /// Sixteen consecutive bytes.
    private static func id(of first: UInt8) -> UUID {
        let first = first & 0xf0
        return UUID(
            uuid: (
                first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7, first + 8,
                first + 9, first + 10, first + 11, first + 12, first + 13, first + 14, first + 15
            ))
    }

    static let event = PublishedMessage(
        topic: "event.LaunchFinished.3e", subject: "default", key: "",
        header: bytes(
            #"{"id":"1","source":"me","specversion":"1.0","subject":"default","type":"event.LaunchFinished"}"#),
        data: bytes("{}"))
    static func journalled(previousInPartition: UInt64 = 0) -> FeedMessage {
        FeedMessage(
            topic: event.topic, epoch: epoch, offset: 8, previous: 0, previousInPartition: previousInPartition,
            header: event.header, data: event.data)
    }
    static let document = FeedMessage(
        topic: "document.Playlists.3e", epoch: epoch, offset: 5, previous: 0,
        header: bytes(
            #"{"id":"0","source":"you","specversion":"1.0","subject":"default","type":"document.Playlists"}"#),
        data: bytes(#"{"playlists":[]}"#))
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
    static let rejection = RejectionFrame(attempts: 4, code: "music.offline", reason: "The player is not there.")
    static let deadLetter = DeadLetters.Entry(
        id: 1, time: 1_700_000_000_000, consumer: "music", rejection: rejection, message: journalled())

    private static func bytes(_ text: String) -> Bytes { Array(text.utf8)[...] }
}
