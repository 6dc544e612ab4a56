import BusFormat
import EventBus
import Foundation
import Testing

@testable import BusProtocol

/// A short description of the arguments for the log.
extension PublishedMessage: CustomTestStringConvertible {
    package var testDescription: String {
        "\(topic) of \(subject), key of \(key.utf8.count), header of \(header.count), data of \(data.count) bytes"
    }
}

@Suite("Refusals of the protocol")
struct RefusalTests {
    static let producer = ProducerID()

    static func message(
        topic: String = "event.A.3e", subject: String = "default", key: String = "", header: Int = 1, data: Int = 0
    ) -> PublishedMessage {
        PublishedMessage(
            topic: topic, subject: subject, key: key, header: Bytes(repeating: 1, count: header),
            data: Bytes(repeating: 1, count: data))
    }

    static func code(of body: () throws(ProtocolError) -> Void) -> ProtocolError.Code? {
        do {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    static func code(reading request: Request) -> ProtocolError.Code? {
        code { () throws(ProtocolError) in _ = try Request(request.operation, body: request.frames(id: 1).dropFirst()) }
    }

    @Test(
        "A message with a wrong topic or size is refused with its code",
        arguments: [
            (message(), nil), (message(topic: "event.A"), .topic), (message(topic: "order.A.3e"), .topic),
            (message(topic: "event.A.3f"), .topic), (message(subject: "other"), .topic),
            (message(key: String(repeating: "k", count: 256)), .tooLarge),
            (message(header: Limits.headerSize), nil), (message(header: Limits.headerSize + 1), .tooLarge),
            (message(data: Limits.dataSize), nil), (message(data: Limits.dataSize + 1), .tooLarge),
            (message(topic: "query.A.3e"), .topic),
        ] as [(PublishedMessage, ProtocolError.Code?)])
    func messages(message: PublishedMessage, code: ProtocolError.Code?) {
        #expect(Self.code { () throws(ProtocolError) in _ = try message.validatedForJournal() } == code)
    }

    static func envelope(
        _ kind: MessageKind = .event, name: String = "A", subject: String = "default", key: String? = nil, data: Int = 0
    ) -> Envelope {
        var attributes = Attributes(type: MessageType(kind: kind, name: name), source: "me", subject: subject)
        attributes.key = key
        return Envelope(attributes: attributes, data: Data(repeating: 1, count: data))
    }

    @Test(
        "A client refuses an invalid message before it is sent, with the same codes",
        arguments: [
            (envelope(), nil), (envelope(.query), .topic), (envelope(name: "not a name"), .topic),
            (envelope(subject: String(repeating: "s", count: 256)), .tooLarge), (envelope(subject: "a\0"), .malformed),
            (envelope(key: String(repeating: "k", count: 256)), .tooLarge), (envelope(key: "a\0"), .malformed),
            (envelope(subject: "ame\u{301}lie"), .malformed), (envelope(subject: "am\u{e9}lie"), nil),
            (envelope(key: "\u{212b}ngstr\u{f6}m"), .malformed), (envelope(key: "\u{c5}ngstr\u{f6}m"), nil),
            (envelope(data: Limits.dataSize), nil), (envelope(data: Limits.dataSize + 1), .tooLarge),
        ] as [(Envelope, ProtocolError.Code?)])
    func packing(envelope: Envelope, code: ProtocolError.Code?) {
        let packed = { () throws(ProtocolError) in
            _ = try PackedMessages([Self.envelope(), envelope], isTransient: false)
        }
        #expect(Self.code(of: packed) == code)
    }

    @Test("A message with a long attribute of another client can be read and answered")
    func longAttributes() throws {
        let long = String(repeating: "d", count: 65_000)
        var launch = Self.envelope(name: "LaunchFinished")
        launch.attributes.device = long
        let topic = Topic(launch.type, subject: launch.subject).name
        let onWire = PublishedMessage(
            topic: topic, subject: launch.subject, key: "", header: launch.attributes.json[...], data: [])
        let journalled = FeedMessage(
            topic: topic, epoch: 1, offset: 1, previous: 0, header: onWire.header, data: onWire.data)
        #expect(try onWire.validatedForJournal().name == topic)
        let read = try journalled.envelope()
        #expect(read.unreadableHeader == nil && read.attributes.device == long)
        let answer = Attributes(type: read.type, source: "me", causedBy: read.attributes)
        #expect(try PackedMessages([Envelope(attributes: answer, data: Data())], isTransient: false).count == 1)
        #expect(throws: BusError.self) { _ = try PublishedMessage(read) }
    }

    @Test("A transient document is refused, and so is a transient message too large for the feed")
    func transient() {
        let document = { () throws(ProtocolError) in
            _ = try PackedMessages([Self.envelope(.document)], isTransient: true)
        }
        #expect(Self.code(of: document) == .topic)
        let large = { () throws(ProtocolError) in
            _ = try PackedMessages([Self.envelope(data: Limits.feedSize)], isTransient: true)
        }
        #expect(Self.code(of: large) == .tooLarge)
    }

    @Test("A batch with too many frames for libzmq is refused, because it would close the connection")
    func frameSize() throws {
        let large = Self.envelope(data: 3 * 1024 * 1024)
        let batch = PublishRequest(
            producer: Self.producer, sequence: 1,
            messages: try PackedMessages([large, large, large], isTransient: false))
        #expect(Self.code { () throws(ProtocolError) in try batch.validate() } == .tooLarge)
    }

    @Test("A transient batch has only messages, and a rejection needs its checkpoint")
    func flags() {
        let checkpoint = CheckpointFrame(
            consumer: "c", ownerGeneration: 1, epoch: 1, offset: 1, settled: 0, partition: nil)
        let transient = PublishRequest(
            producer: Self.producer, sequence: 1, isTransient: true, checkpoint: checkpoint, messages: [])
        #expect(Self.code(reading: .publish(transient)) == .malformed)
        let leased = PublishRequest(
            producer: Self.producer, sequence: 1, isLeased: true, isTransient: true, messages: [Self.message()])
        #expect(Self.code(reading: .publish(leased)) == .malformed)
        let rejection = PublishRequest(
            producer: Self.producer, sequence: 1,
            rejection: RejectionFrame(attempts: 1, code: "x", reason: "y"), messages: [])
        #expect(Self.code(reading: .publish(rejection)) == .malformed)
        var unknown = PublishRequest(producer: Self.producer, sequence: 1, messages: []).frames
        unknown[0][24] = 32
        #expect(Self.code { () throws(ProtocolError) in _ = try PublishRequest(frames: unknown[...]) } == .malformed)
    }

    @Test("A request with too many elements is refused")
    func counts() {
        let many = Array(repeating: Self.message(), count: Limits.batchCount + 1)
        let batch = PublishRequest(producer: Self.producer, sequence: 1, messages: many)
        #expect(Self.code(reading: .publish(batch)) == .tooLarge)
        let deadLetters = PublishRequest(
            producer: Self.producer, sequence: 1, resolvedDeadLetters: Array(1...Int64(Limits.batchCount + 1)),
            messages: [])
        #expect(Self.code(reading: .publish(deadLetters)) == .tooLarge)
        let prefixes = Array(repeating: "event.", count: Limits.filterCount + 1)
        #expect(Self.code(reading: .read(PageRequest(epoch: 0, after: 0, prefixes: prefixes))) == .tooLarge)
        let types = Array(repeating: MessageType(kind: .query, name: "A"), count: Limits.filterCount + 1)
        #expect(Self.code(reading: .serve(ServeRequest(producer: Self.producer, types: types))) == .tooLarge)
    }

    @Test("A consumer has a name of 1 to 255 bytes", arguments: [(0, false), (1, true), (255, true), (256, false)])
    func consumerNames(length: Int, isValid: Bool) {
        let claim = ClaimRequest(
            producer: Self.producer, member: .shared, consumer: String(repeating: "c", count: length))
        #expect(Self.code(reading: .claim(claim)) == (isValid ? nil : .tooLarge))
    }

    @Test("A claim with an unknown flag is refused", arguments: [6, 8, 128] as [UInt8])
    func claimFlags(flags: UInt8) throws {
        let claim = ClaimRequest(producer: Self.producer, member: .shared, consumer: "c")
        var frame = try #require(claim.frames.first)
        frame[32] |= flags
        #expect(Self.code { () throws(ProtocolError) in _ = try ClaimRequest(frames: [frame]) } == .malformed)
    }

    @Test(
        "A filter ends with a dot or is a whole topic", arguments: ["event", "event.A", "event.A.3", "", "event.A.zz"])
    func filters(filter: String) {
        #expect(Self.code(reading: .read(PageRequest(epoch: 0, after: 0, prefixes: [filter]))) == .topic)
    }

    @Test("Only queries are asked and served")
    func queries() {
        let event = MessageType(kind: .event, name: "A")
        #expect(Self.code(reading: .serve(ServeRequest(producer: Self.producer, types: [event]))) == .topic)
        #expect(Self.code(reading: .ask(AskRequest(timeout: 1, query: Self.message()))) == .topic)
    }

    @Test(
        "A partition beyond the last is refused, and ff means all partitions of the owner",
        arguments: [63, 64, 254, 255])
    func partitions(number: UInt8) throws {
        var bytes = CheckpointFrame(consumer: "c", ownerGeneration: 1, epoch: 1, offset: 1, settled: 0, partition: nil)
            .bytes
        bytes[bytes.count - 1] = number
        guard number == 63 || number == 255 else {
            #expect(Self.code { () throws(ProtocolError) in _ = try CheckpointFrame(bytes) } == .malformed)
            return
        }
        #expect(try CheckpointFrame(bytes).partition == (number == 63 ? Partition(63) : nil))
    }

    @Test("An answer that is larger than a message can be is refused")
    func answers() {
        let data = Bytes(repeating: 1, count: Limits.dataSize + 1)
        let answer = QueryAnswer(query: 1, content: .message(header: [1], data: data))
        #expect(Self.code(reading: .answer(answer)) == .tooLarge)
    }

    @Test("A text that is not UTF-8 is refused")
    func encoding() {
        let frame: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff]
        #expect(Self.code { () throws(ProtocolError) in _ = try DeadLettersRequest(frames: [frame]) } == .malformed)
    }
}
