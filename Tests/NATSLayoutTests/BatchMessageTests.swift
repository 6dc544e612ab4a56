import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Batch as one JetStream message")
struct BatchMessageTests {
    private static let event = MessageType(kind: .event, name: "A")
    private static let document = MessageType(kind: .document, name: "D")

    private static func fields(_ message: BatchMessage) -> [String: String] {
        Dictionary(message.headers.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func read(_ message: BatchMessage) throws -> BatchMessage {
        try BatchMessage(fields: fields(message), body: message.body)
    }

    /// The message of a publication, as the lanes send it.
    private static func message(_ publication: Publication) throws -> BatchMessage {
        var lanes = Lanes(producer: ProducerID())
        let actions = lanes.add(Lanes.CallID(1), publication, at: .now)
        guard case .send(let sending)? = actions.first else { throw BusError(.refused, "not sent: \(actions)") }
        return sending.message
    }

    private static let messages = [
        Samples.message(event, subject: "a", id: "1"), Samples.message(event, subject: "b", data: "[1]", id: "2"),
        Samples.message(document, subject: "a", key: "k", data: "", id: "3"),
    ]

    /// A batch with everything that a batch can have.
    private static func full() throws -> BatchMessage {
        var given = Samples.message(event, subject: "given", id: "given")
        given.position = Position(epoch: 1, offset: 5000)
        let rejection = Rejection(code: "message.malformed", reason: "no\nreason", attempts: 3)
        let owner = ConsumerPartition("music.service", Partition(subject: "given"))
        let checkpoint = Checkpoint(
            claim: Samples.claim(owner.consumer), position: Position(epoch: 1, offset: 5000),
            partition: owner.partition, previous: nil, settled: 4000)
        let publication = try Publication(
            Batch(messages, checkpoint: checkpoint, rejection: rejection), owner: owner,
            rejected: try RejectedMessage(rejection, of: given),
            expectation: Expectation(subject: BusSubject.fence(owner).text(in: "S"), sequence: 77))
        return try message(publication)
    }

    @Test("A batch reads back with its messages and their positions")
    func messages() throws {
        let batch = try Publication(Batch(Self.messages))
        let read = try Self.read(Self.message(batch))
        let content = try read.content(at: 7, of: 9)
        #expect(read.headers.count == 3 && content.rejected == nil)
        #expect(try content.messages.map { try $0.envelope().attributes } == Self.messages.map(\.attributes))
        #expect(try content.messages.map { try $0.envelope().data } == Self.messages.map(\.data))
        let offsets = content.messages.map(\.position.offset)
        #expect(offsets == [8189, 8190, 8191])
        #expect(content.messages.allSatisfy { $0.position.epoch == 9 })
        #expect(
            content.messages.map(\.documentName) == [nil, nil, DocumentName(Self.document, subject: "a", key: "k")])
        #expect(try content.messages[2].envelope().isTombstone)
    }

    @Test("A batch reads back with its progress, its rejected message, and the expected fence")
    func full() throws {
        let message = try Self.full()
        let headers = Self.fields(message)
        #expect(headers["Nats-Msg-Id"] == "music~2eservice/\(Partition(subject: "given").token)/5000/3")
        #expect(headers["Segue-Batch"] == "3")
        #expect(headers["Segue-Progress"] == "3/5000/4000/\(Partition(subject: "given").token)")
        #expect(headers["Nats-Expected-Last-Subject-Sequence"] == "77")
        #expect(headers["Nats-Expected-Last-Subject-Sequence-Subject"]?.hasPrefix("S.k.f.music~2eservice.") == true)
        #expect(headers.values.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } })
        let read = try Self.read(message)
        #expect(read == message)
        let content = try read.content(at: 8, of: 1)
        let deadLetter = try #require(content.rejected)
            .deadLetter(of: "music.service", sequence: 8, time: Date(timeIntervalSince1970: 1))
        #expect(deadLetter.id == 8 && deadLetter.consumer == "music.service")
        #expect(deadLetter.rejection == Rejection(code: "message.malformed", reason: "no\nreason", attempts: 3))
        #expect(deadLetter.message.id == "given" && deadLetter.message.position?.offset == 5000)
        // The headers can be read without the body.
        #expect(try BatchHeaders(fields: headers) == message.headers)
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }
        #expect(message.headers.size == "NATS/1.0\r\n\r\n".utf8.count + lines.joined().utf8.count)
    }

    @Test("A batch keeps the bytes of a rejected message with an unreadable header")
    func unreadable() throws {
        let header = UnreadableHeader(reason: "why", partition: Partition.all[7], bytes: Data("not json".utf8))
        let given = Envelope(
            type: Self.event, header, data: Data("x".utf8), position: Position(epoch: 1, offset: 3000))
        let rejection = try #require(given.rejection)
        let owner = ConsumerPartition("c", given.partition)
        let claim = Samples.claim("c")
        let publication = try Publication(
            Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(given)), rejection: rejection),
            owner: owner,
            rejected: try RejectedMessage(rejection, of: given))
        #expect(publication.subject == .results(owner, .none))
        let rejected = try #require(try Self.read(Self.message(publication)).content(at: 9, of: 1).rejected)
        let again = try rejected.deadLetter(of: "c", sequence: 9, time: Date()).message
        #expect(again.type == Self.event && again.partition == given.partition && again.data == given.data)
        #expect(again.unreadableHeader?.bytes == header.bytes)
    }

    @Test("A batch that settles dead letters, or is leased, has the corresponding headers")
    func others() throws {
        var batch = Batch(Self.messages)
        batch.resolvedDeadLetters = [1, 5, .max]
        let settlement = try Publication(batch, expectation: Expectation(subject: nil, sequence: 0))
        #expect(settlement.subject == .settlement)
        #expect(try Self.read(Self.message(settlement)).headers.resolvedDeadLetters == [1, 5, .max])
        let producer = ProducerID()
        let leased = try Self.message(try Publication(Batch(Self.messages, isLeased: true), lease: producer))
        #expect(try Self.read(leased).headers.lease == producer)
        batch.checkpoint = Checkpoint(claim: Samples.claim("c"), upTo: Position(epoch: 1, offset: 1))
        #expect(throws: BusError.self) {
            try Publication(batch, owner: ConsumerPartition("c", Partition.all[0]))
        }
        #expect("\(BatchID.withdrawal(producer, sequence: 4))" == "lease-\(producer.hexadecimal)-4")
    }

    @Test("A batch that only guards records no progress, and has its own id")
    func guarding() throws {
        let owner = ConsumerPartition("c", Partition.all[3])
        let checkpoint = try #require(Checkpoint(guarding: owner.partition, of: Samples.claim("c")))
        let publication = try Publication(Batch(Self.messages, checkpoint: checkpoint), owner: owner)
        #expect(publication.progress == nil && publication.id == nil)
        // A progress record of a guard would replace the last real one.
        #expect(try Publication(Batch([], checkpoint: checkpoint), owner: owner).subject == .results(owner, .none))
        let progress = Checkpoint(
            claim: Samples.claim("c"), position: Position(epoch: 1, offset: 9), partition: owner.partition,
            previous: nil, settled: 9)
        #expect(try Publication(Batch([], checkpoint: progress), owner: owner).subject == .progress(owner))
    }

    @Test("A batch can record progress of all partitions of its owner")
    func allPartitions() throws {
        let owner = ConsumerPartition("c", Partition.all[3])
        let checkpoint = Checkpoint(claim: Samples.claim("c"), upTo: Position(epoch: 1, offset: 9))
        let publication = try Publication(Batch([], checkpoint: checkpoint), owner: owner)
        #expect(publication.id == nil && publication.subject == .progress(owner))
        let progress = try Self.read(Self.message(publication)).headers.progress
        #expect(progress == RecordedProgress(ownerGeneration: 3, offset: 9, settled: 9, partition: nil, epoch: 1))
    }

    @Test("A batch that is too large, or has a query, is refused")
    func refused() throws {
        let one = Samples.message(Self.event)
        let large = Samples.message(Self.event, data: String(repeating: "1", count: 4 * 1024 * 1024))
        for batch in [
            Batch(Array(repeating: one, count: 1025)), Batch([large, large]),
            Batch([Samples.message(MessageType(kind: .query, name: "Q"))]),
            Batch([Samples.message(Self.event, subject: "e\u{301}")]),
        ] {
            #expect { try Publication(batch) } throws: { ($0 as? BusError)?.code == .refused }
        }
        #expect(try Publication(Batch(Array(repeating: one, count: 1024))).count == 1024)
    }

    @Test("A batch with damaged headers gives an error")
    func damagedHeaders() throws {
        let fields = Self.fields(try Self.full())
        for (name, value) in [
            ("Segue-Batch", ""), ("Segue-Batch", "-1"), ("Segue-Batch", "1025"), ("Segue-Batch", "+1"),
            ("Segue-Batch", "99999999999999999999"), ("Segue-Progress", ""), ("Segue-Progress", "1/2/3"),
            ("Segue-Progress", "1/2/3/40"), ("Segue-Progress", "1/2/3/-/"), ("Segue-Progress", "1//3/-"),
            ("Segue-Rejection", "2"), ("Segue-Settles", ","), ("Segue-Settles", "9223372036854775808"),
            ("Segue-Settles", Array(repeating: "1", count: 1025).joined(separator: ",")), ("Segue-Lease", "00"),
            ("Nats-Expected-Last-Subject-Sequence", "x"),
        ] {
            var damaged = fields
            damaged[name] = value
            #expect(throws: ProtocolError.self, "\(name): \(value)") { try BatchHeaders(fields: damaged) }
        }
        #expect(throws: ProtocolError.self) { try BatchHeaders(fields: [:]) }
        var without = fields
        without["Segue-Progress"] = nil
        #expect(throws: ProtocolError.self) { try BatchHeaders(fields: without) }
    }

    @Test("A batch with changed, cut, added or random bytes gives messages or an error")
    func damagedBodies() throws {
        var generator = SeededGenerator(seed: 6)
        let message = try Self.full()
        for length in 0..<message.body.count {
            let cut = BatchMessage(headers: message.headers, body: Array(message.body[..<length]))
            #expect(throws: ProtocolError.self) { try cut.content(at: 1, of: 1) }
        }
        for extra in [0, 1, 255] as [UInt8] {
            let longer = BatchMessage(headers: message.headers, body: message.body + [extra])
            #expect(throws: ProtocolError.self) { try longer.content(at: 1, of: 1) }
        }
        for count in [0, 1, 2, 4, 1024] {
            var headers = message.headers
            headers.count = count
            #expect(throws: ProtocolError.self) {
                try BatchMessage(headers: headers, body: message.body).content(at: 1, of: 1)
            }
        }
        var failures = 0
        for round in 0..<4_000 {
            var body = message.body
            if round % 4 == 0 {
                body = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            } else {
                body[Int.random(in: 0..<body.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            do {
                let content = try BatchMessage(headers: message.headers, body: body).content(at: 1, of: 1)
                for stored in content.messages {
                    _ = stored.documentName
                    do { _ = try stored.envelope() } catch let error as BusError { #expect(error.code == .malformed) }
                }
            } catch is ProtocolError {
                failures += 1
            }
        }
        #expect(failures > 1_000)
        for sequence in [0, .max, UInt64.max / 1024] {
            #expect(throws: ProtocolError.self) { try message.content(at: sequence, of: 1) }
        }
        #expect(throws: ProtocolError.self) {
            try BatchMessage(fields: Self.fields(message), body: Array(repeating: 0, count: 14 * 1024 * 1024))
        }
    }
}
