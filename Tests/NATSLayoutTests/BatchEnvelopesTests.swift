import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Envelopes of a batch")
struct BatchEnvelopesTests {
    private static let event = MessageType(kind: .event, name: "A")
    private static let document = MessageType(kind: .document, name: "D")
    private static let position = Position(epoch: 9, offset: 7 * 1024)

    /// A message whose header is not what a client of the bus writes.
    private static func message(header: String, topic: String? = nil, subject: String = "a") -> PublishedMessage {
        PublishedMessage(
            topic: topic ?? Topic(event, subject: subject).name, subject: subject, key: "",
            header: Array(header.utf8)[...], data: Array("{}".utf8)[...])
    }

    private static func header(_ fields: String) -> String {
        #"{"specversion":"1.0","id":"1","source":"me","type":"event.A",\#(fields)}"#
    }

    /// Messages of every form: usual ones, headers that only Foundation reads, unreadable ones, and topics that are
    /// invalid or belong to another message.
    private static let messages: [PublishedMessage] = {
        let usual = [
            Samples.message(event, subject: "a", id: "1"), Samples.message(event, subject: "b", data: "[1]", id: "2"),
            Samples.message(event, subject: "zoë", id: "3"),
            Samples.message(document, subject: "a", key: "k", data: "", id: "4"),
            Samples.message(event, subject: String(repeating: "s", count: 200), id: "5"),
        ]
        return usual.compactMap { try? PublishedMessage($0) } + [
            message(header: header(#""subject":"a","time":"2026-01-02T03:04:05.006Z""#)),
            message(header: header(#""subject":"\u0061","time":"2026-01-02T03:04:05Z","extra":[1]"#)),
            message(header: header(#""subject":"a""#)),
            message(header: header(#""subject":"b","time":"2026-01-02T03:04:05.006Z""#)),
            message(header: header(#""subject":"a","time":"never""#)), message(header: "not json"), message(header: ""),
            message(header: header(#""subject":"a","time":"2026-01-02T03:04:05.006Z""#), topic: "event.B.00"),
            message(header: header(#""subject":"a""#), topic: "no topic"),
            message(header: header(#""subject":"a""#), topic: ""),
            message(header: header(#""subject":"a""#), topic: "event.\u{e9}.00"),
        ]
    }()

    /// What a reader gets from a body.
    private struct Outcome: Equatable {
        var envelopes: [Envelope] = []
        var failures = 0
        var isDamaged = false

        /// Times that a header does not have are the time of reading.
        mutating func add(_ envelope: Envelope) {
            var envelope = envelope
            if abs(envelope.attributes.time.timeIntervalSinceNow) < 60 { envelope.attributes.time = .distantPast }
            envelopes.append(envelope)
        }
    }

    private static func read(
        _ body: [UInt8], count: Int, hasRejection: Bool = false, where isWanted: (UInt64) -> Bool
    ) throws -> (fast: Outcome, general: Outcome) {
        var headers = BatchHeaders(id: "", count: count, hasRejection: hasRejection)
        if hasRejection {
            headers.progress = RecordedProgress(ownerGeneration: 1, offset: 5, settled: 5, partition: nil)
        }
        var (fast, general) = (Outcome(), Outcome())
        do {
            let batch = try body.withUnsafeBytes {
                try BatchEnvelopes(headers, $0, at: 7, of: position.epoch, where: isWanted)
            }
            for envelope in batch.envelopes { fast.add(envelope) }
            fast.failures = batch.failures.count
        } catch is ProtocolError {
            fast.isDamaged = true
        }
        do {
            let content = try BatchMessage(headers: headers, body: body).content(at: 7, of: position.epoch)
            for stored in content.messages where isWanted(stored.position.offset) {
                do { general.add(try stored.envelope()) } catch is BusError { general.failures += 1 }
            }
        } catch is ProtocolError {
            general.isDamaged = true
        }
        return (fast, general)
    }

    private static func packed(_ messages: [PublishedMessage]) -> [UInt8] { PackedMessages(messages).bytes }

    @Test("The envelopes equal the messages of the batch, in every form")
    func forms() throws {
        for message in Self.messages {
            let (fast, general) = try Self.read(Self.packed([message]), count: 1) { _ in true }
            #expect(fast == general, "\(message.topic) \(String(decoding: message.header, as: UTF8.self))")
            #expect(fast.envelopes.count + fast.failures == 1)
        }
        let all = Self.packed(Self.messages)
        let (fast, general) = try Self.read(all, count: Self.messages.count) { _ in true }
        #expect(fast == general && fast.failures == 3)
        #expect(fast.envelopes.count { $0.unreadableHeader != nil } == 5)
        let (even, generalEven) = try Self.read(all, count: Self.messages.count) { $0.isMultiple(of: 2) }
        #expect(even == generalEven && even.envelopes.count < fast.envelopes.count)
    }

    @Test("The envelopes of a batch outside of the journal have no positions")
    func transient() throws {
        let message = try #require(Self.messages.first)
        let batch = try Self.packed([message]).withUnsafeBytes {
            try BatchEnvelopes(transient: BatchHeaders(id: "", count: 1), $0)
        }
        #expect(batch.envelopes.map(\.position) == [nil] && batch.envelopes.map(\.id) == ["1"])
    }

    @Test("A damaged body has no envelopes, or those of its messages")
    func damaged() throws {
        var generator = SeededGenerator(seed: 8)
        let whole = Self.packed(Self.messages)
        let count = Self.messages.count
        for length in 0..<whole.count {
            #expect(try Self.read(Array(whole[..<length]), count: count, where: { _ in true }).fast.isDamaged)
        }
        #expect(try Self.read(whole + [0], count: count, where: { _ in true }).fast.isDamaged)
        for number in [0, 1, count - 1, count + 1, 1024] {
            let (fast, general) = try Self.read(whole, count: number) { _ in true }
            #expect(fast.isDamaged && general.isDamaged)
        }
        #expect(try Self.read(whole, count: count, hasRejection: true, where: { _ in true }).fast.isDamaged)
        var damaged = 0
        for _ in 0..<2_000 {
            var body = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                body[Int.random(in: 0..<body.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            let (fast, general) = try Self.read(body, count: count) { _ in true }
            #expect(fast == general)
            if fast.isDamaged { damaged += 1 }
        }
        #expect((100..<1_900).contains(damaged))
    }
}
