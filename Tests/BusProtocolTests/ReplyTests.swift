import BusFormat
import EventBus
import Testing

@testable import BusProtocol

@Suite("Replies, notices and feed messages on the wire")
struct ReplyTests {
    static let message = FeedMessage(topic: "event.A.00", epoch: 1, offset: 9, previous: 4, header: [1], data: [])
    static let deadLetter = DeadLetters.Entry(
        id: 3, time: 1_700_000_000_000, consumer: "music",
        rejection: RejectionFrame(attempts: 4, code: "music.offline", reason: "nobody answers"), message: message)
    static let listed = DeadLetters.Entry(
        id: 3, time: 1_700_000_000_000, consumer: "music",
        rejection: RejectionFrame(attempts: 4, code: "music.offline", reason: "nobody answers"), message: message,
        dataSize: 100_000)
    static let cutOff = CutOff(type: MessageType(kind: .event, name: "A"), count: 3, offsets: 2...7)

    static let verified = FeedMessage(
        topic: "event.A.00", epoch: 1, offset: 10, previous: 9, header: [1], data: [],
        origin: VerifiedOrigin(session: "anna", publisher: "music-service"))
    static let verifiedLetter = DeadLetters.Entry(
        id: 4, time: 1_700_000_000_000, consumer: "music",
        rejection: RejectionFrame(attempts: 4, code: "music.offline", reason: "nobody answers"), message: verified)

    static let consumer = ConsumerList.Entry(name: "music", position: 7, memberCount: 2)

    static let replies: [(Operation, Reply)] = [
        (.hello, .welcome(Welcome(epoch: 1, head: 2, sequence: 3, mark: 4))),
        (.hello, .welcome(Welcome(epoch: 1, head: 2, sequence: 3, mark: 4, more: .init(start: 5, leased: 6)))),
        (.bye, .welcome(Welcome(epoch: 1, head: 2, sequence: 0))),
        (.publish, .published(epoch: 1, offset: 2)),
        (.publish, .refused(ProtocolError(.fenced, "taken over"))),
        (.publish, .refused(ProtocolError(.deadLetter, "gone"))),
        (.read, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [message, message]))),
        (.read, .page(Page(epoch: 1, through: 9, isComplete: false, messages: [], damaged: [5, 7]))),
        (.documents, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [message]))),
        (.read, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [verified, verified]))),
        (.read, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [message, verified, message]))),
        (.deadLetters, .deadLetters(DeadLetters(isComplete: true, deadLetters: [deadLetter, verifiedLetter]))),
        (.ask, .answer(header: [1, 2], data: [], VerifiedOrigin(session: "", publisher: "music-service"))),
        (.heads, .heads(Heads(epoch: 1, through: 9, offsets: ["event.A.00": 4, "event.B.01": 9]))),
        (.heads, .heads(Heads(epoch: 1, through: 9, offsets: [:]))),
        (.claim, .claimed(Claimed(ownerGeneration: 0, epoch: 2, offsets: [:], cutOffs: []))),
        (
            .claim,
            .claimed(Claimed(ownerGeneration: 1, epoch: 2, offsets: offsets(Partition.all), cutOffs: [cutOff, cutOff]))
        ),
        (.locate, .located(epoch: 1, offset: 2)),
        (.count, .counted(epoch: 1, count: 10_000)),
        (.end, .end(epoch: 1, offset: 2)),
        (.deadLetters, .deadLetters(DeadLetters(isComplete: false, deadLetters: [deadLetter, deadLetter]))),
        (.deadLetters, .deadLetters(DeadLetters(isComplete: true, deadLetters: []))),
        (.listDeadLetters, .deadLetterSummaries(DeadLetters(isComplete: false, deadLetters: [listed, listed]))),
        (.listDeadLetters, .deadLetterSummaries(DeadLetters(isComplete: true, deadLetters: []))),
        (.countDeadLetters, .counted(epoch: 1, count: 20_000)),
        (.document, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [message]))),
        (.document, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [], damaged: [5]))),
        (.consumers, .consumers(ConsumerList(epoch: 1, head: 2, consumers: []))),
        (.consumers, .consumers(ConsumerList(epoch: 1, head: 9, consumers: [consumer, consumer]))),
        (.serve, .done), (.answer, .done), (.cancel, .done), (.forget, .done),
        (.ask, .answer(header: [1, 2], data: [])),
        (.ask, .refused(ProtocolError(.unserved, "no process serves query.Songs"))),
    ]

    static func offsets(_ partitions: [Partition]) -> [Partition: UInt64] {
        Dictionary(uniqueKeysWithValues: partitions.map { ($0, UInt64($0.number) + 5) })
    }

    @Test("Every reply reads back as it was written, with the id of its request", arguments: replies)
    func roundTrip(operation: Operation, reply: Reply) throws {
        let read = try Reply.read(reply.frames(to: RequestHead(operation: operation, id: 5)))
        #expect(read.id == 5)
        #expect(read.reply == reply)
    }

    @Test("A reply without a part is refused, or read as another one", arguments: replies)
    func cut(operation: Operation, reply: Reply) {
        let frames = reply.frames(to: RequestHead(operation: operation, id: 5))
        for index in frames.indices {
            for length in 0..<frames[index].count {
                var cut = frames
                cut[index] = Array(cut[index].prefix(length))
                let read = try? Reply.read(cut)
                #expect(read?.reply != reply, "frame \(index) cut to \(length) bytes")
            }
        }
    }

    @Test("A refusal is read by the client even if the head of its request was not")
    func foreignHead() throws {
        var head = RequestHead(operation: .hello, id: 9).bytes
        head[2] = 200
        let refusal = Reply.refused(ProtocolError(.version, "version 200 is not supported"))
        let read = try Reply.read(refusal.frames(head: head))
        #expect(read.id == 9)
        #expect(read.reply == refusal)
    }

    @Test(
        "A notice is distinguished from a reply",
        arguments: [
            Notice.query(id: 4, RequestTests.query), .query(id: 4, RequestTests.query, verified.origin), .cancel(id: 4),
        ])
    func notices(notice: Notice) throws {
        #expect(try Notice(notice.frames) == notice)
        for (operation, reply) in Self.replies {
            let frames = reply.frames(to: RequestHead(operation: operation, id: 5))
            #expect(try Notice(frames) == nil, "\(operation)")
        }
    }

    @Test("A message reads back from the feed as it was written", arguments: [0, 9] as [UInt64])
    func feed(offset: UInt64) throws {
        let message = FeedMessage(
            topic: "event.A.00", epoch: 1, offset: offset, previous: 0, previousInPartition: 6, header: [1, 2],
            data: [3])
        #expect(try FeedPacket.messages(Self.frames([message])[0]) == [message])
        #expect(!message.isAnnouncement)
    }

    @Test("The feed has only the position of a large message, unless it is transient")
    func announcement() throws {
        let data = Bytes(repeating: 7, count: Limits.feedSize)
        let large = FeedMessage(
            topic: "event.A.00", epoch: 1, offset: 9, previous: 4, previousInPartition: 8, header: [1], data: data)
        let announced = try #require(try FeedPacket.messages(Self.frames([large])[0]).first)
        #expect(announced.isAnnouncement)
        #expect((announced.offset, announced.previous, announced.previousInPartition) == (9, 4, 8))
        let transient = FeedMessage(topic: "event.A.00", epoch: 1, offset: 0, previous: 0, header: [1], data: data)
        #expect(try FeedPacket.messages(Self.frames([transient])[0]) == [transient])
    }

    static func frames(_ messages: [FeedMessage]) -> [[[UInt8]]] {
        var packets: [[[UInt8]]] = []
        messages.forEachPacket { packets.append($0.frames) }
        return packets
    }

    @Test("Consecutive messages of a topic share a packet, within its size")
    func packets() throws {
        let topics = ["event.A.00", "event.A.00", "event.B.00", "event.A.00"]
        let messages = topics.enumerated().map { index, topic in
            FeedMessage(
                topic: topic, epoch: 1, offset: UInt64(index) + 1, previous: UInt64(index), header: [1], data: [2])
        }
        let packets = try Self.frames(messages).map { try FeedPacket.messages($0) }
        #expect(packets.map { $0.map(\.offset) } == [[1, 2], [3], [4]])
        #expect(packets.flatMap(\.self) == messages, "nothing changes its place")

        let large = (1...5).map { offset in
            FeedMessage(
                topic: "event.A.00", epoch: 1, offset: offset, previous: offset - 1, header: [1],
                data: Bytes(repeating: 7, count: Limits.feedSize / 3))
        }
        #expect(try Self.frames(large).map { try FeedPacket.messages($0).count } == [2, 2, 1])
        #expect(Self.frames([]).isEmpty)
    }

    @Test("A packet that ends early, or lacks a frame, is refused")
    func brokenPackets() {
        let message = FeedMessage(topic: "event.A.00", epoch: 1, offset: 1, previous: 0, header: [1], data: [2])
        for frames in Self.frames([message, message]) {
            for length in 0..<frames[1].count {
                // A packet may only end where a message ends.
                let isWhole = length == 8 + (frames[1].count - 8) / 2
                let read = try? FeedPacket.messages([frames[0], Array(frames[1].prefix(length))])
                #expect((read != nil) == isWhole, "\(length) bytes")
            }
            #expect(throws: ProtocolError.self) { try FeedPacket.messages([frames[0]]) }
            #expect(throws: ProtocolError.self) { try FeedPacket.messages(frames + [[]]) }
        }
    }

    @Test("A message whose header cannot be read has the verified session, so that reports about it stay there")
    func unreadable() throws {
        let topic = Topic(MessageType(kind: .event, name: "A"), subject: "anna").name
        let message = FeedMessage(
            topic: topic, epoch: 1, offset: 9, previous: 0, header: Array(#"{"time":"<b>x</b>"}"#.utf8)[...], data: [],
            origin: VerifiedOrigin(session: "anna", publisher: "phone"))
        let envelope = try message.envelope()
        #expect(envelope.unreadableHeader != nil)
        #expect((envelope.subject, envelope.attributes.source) == ("anna", "phone"))
        #expect(envelope.partition == Partition(subject: "anna"))
    }

    @Test("A packet carries the verified origin of each message, and is refused if one is missing")
    func origins() throws {
        let first = FeedMessage(topic: "event.A.00", epoch: 1, offset: 9, previous: 0, header: [1], data: [2])
        let frames = try #require(Self.frames([first, Self.verified]).first)
        #expect(try FeedPacket.messages(frames) == [first, Self.verified])
        #expect(Self.frames([first])[0].count == 2, "nothing is added on a bus without keys")
        for length in 0..<frames[2].count {
            let cut = [frames[0], frames[1], Array(frames[2].prefix(length))]
            #expect(throws: ProtocolError.self) { try FeedPacket.messages(cut) }
        }
        let long = [frames[0], frames[1], frames[2] + [0]]
        #expect(throws: ProtocolError.self) { try FeedPacket.messages(long) }
        #expect(throws: ProtocolError.self) { try FeedPacket.messages(frames + [[]]) }
    }

    @Test("An answer to an inbox reads back as it was written")
    func inbox() throws {
        let answer = try Inbox.readAnswer(Inbox.answer(topic: Array("~00.1".utf8), epoch: 3, head: 8))
        #expect(answer == ("~00.1", 3, 8))
    }

    @Test("An offset, a sequence or a count beyond the range of a journal is refused")
    func impossibleNumbers() {
        let impossible = Position.greatestOffset + 1
        let message = FeedMessage(
            topic: "event.A.00", epoch: 1, offset: impossible, previous: 0, header: [1], data: [2])
        #expect(throws: ProtocolError.self) { try FeedPacket.messages(Self.frames([message])[0]) }
        #expect(throws: ProtocolError.self) {
            try Inbox.readAnswer(Inbox.answer(topic: Array("~00.1".utf8), epoch: 3, head: impossible))
        }
        let replies: [(Operation, Reply)] = [
            (.hello, .welcome(Welcome(epoch: 1, head: impossible, sequence: 0))),
            (.hello, .welcome(Welcome(epoch: 1, head: 1, sequence: impossible))),
            (.publish, .published(epoch: 1, offset: impossible)), (.locate, .located(epoch: 1, offset: impossible)),
            (.read, .page(Page(epoch: 1, through: 9, isComplete: true, messages: [message]))),
            (.read, .page(Page(epoch: 1, through: impossible, isComplete: true, messages: []))),
            (.heads, .heads(Heads(epoch: 1, through: 9, offsets: ["event.A.00": impossible]))),
            (.claim, .claimed(Claimed(ownerGeneration: impossible, epoch: 2, offsets: [:], cutOffs: []))),
            (.claim, .claimed(Claimed(ownerGeneration: 1, epoch: 2, offsets: [Partition.all[0]: .max], cutOffs: []))),
            (.count, .counted(epoch: 1, count: .max)),
            (.consumers, .consumers(ConsumerList(epoch: 1, head: .max, consumers: []))),
        ]
        for (operation, reply) in replies {
            let frames = reply.frames(to: RequestHead(operation: operation, id: 5))
            #expect(RefusalTests.code { () throws(ProtocolError) in _ = try Reply.read(frames) } == .malformed)
        }
    }
}
