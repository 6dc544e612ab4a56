import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Retained documents")
struct DocumentRecordsTests {
    private static let type = MessageType(kind: .document, name: "D")

    @Test("The documents are correct with any mark of the steward, and while it writes")
    func random() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            let journal = try (1...60).map { number in
                let isWithdrawn = generator.chance(1, in: 4)
                let message = Samples.message(
                    Self.type, subject: ["a", "b"].randomElement(using: &generator) ?? "a",
                    key: ["x", "y", nil].randomElement(using: &generator) ?? nil, data: isWithdrawn ? "" : "\(number)",
                    id: "\(number)")
                return try Samples.stored(message, at: UInt64(number) * 1024 + 1023)
            }
            let watermark = Int.random(in: 0...50, using: &generator)
            let end = Int.random(in: watermark...60, using: &generator)
            // The steward has written at least up to the watermark. Each document is as it was when it was read.
            let names = Set(journal.compactMap(\.documentName))
            var expected: [DocumentName: BatchMessage.Stored] = [:]
            for stored in journal[..<end] { expected[try #require(stored.documentName)] = stored }
            var overlay = Overlay([.kind(.document)], epoch: 1)
            var parts: [BatchMessage.Stored] = Array(journal[watermark..<end])
            for name in names {
                let reach = Int.random(in: watermark...end, using: &generator)
                let last = journal[..<reach].last { $0.documentName == name }
                if let last, !last.message.data.isEmpty {
                    parts.append(try DocumentRecord(last).roundTrip())
                }
            }
            for part in parts.shuffled(using: &generator) { overlay.add(part) }
            let documents = overlay.envelopes()
            let present = expected.values.filter { !$0.message.data.isEmpty }
                .sorted { $0.position.offset < $1.position.offset }
            #expect(try documents == present.map { try $0.envelope() })
            let middle = UInt64(end) * 512
            #expect(
                overlay.envelopes(after: middle, limit: 2)
                    == Array(documents.filter { $0.position?.offset ?? 0 > middle }.prefix(2)))
        }
    }

    @Test("Documents after the end are left to the reader that continues there")
    func laterThanEnd() throws {
        var overlay = Overlay([.type(Self.type, subject: "a")], epoch: 1)
        overlay.add(try Samples.stored(Samples.message(Self.type, subject: "a", id: "1"), at: 2047))
        overlay.add(try Samples.stored(Samples.message(Self.type, subject: "a", key: "k", id: "2"), at: 4095))
        #expect(overlay.envelopes(through: 3071).map(\.id) == ["1"])
        #expect(overlay.envelopes(through: 4095).map(\.id) == ["1", "2"])
    }

    @Test("Documents of another subject, kind or journal, and unreadable ones, are left out")
    func others() throws {
        var overlay = Overlay([.type(Self.type, subject: "a")], epoch: 1)
        overlay.add(try Samples.stored(Samples.message(Self.type, subject: "b"), at: 1))
        overlay.add(try Samples.stored(Samples.message(MessageType(kind: .event, name: "D"), subject: "a"), at: 2))
        overlay.add(try Samples.stored(Samples.message(Self.type, subject: "a"), at: 3, epoch: 2))
        #expect(overlay.count == 0)
        let readable = try Samples.stored(Samples.message(Self.type, subject: "a"), at: 4)
        overlay.add(readable)
        #expect(overlay.envelopes().count == 1)
        let message = PublishedMessage(
            topic: readable.message.topic, subject: "a", key: "", header: [0x7b], data: readable.message.data)
        overlay.add(BatchMessage.Stored(message: message, position: Position(epoch: 1, offset: 5)))
        #expect(overlay.count == 1 && overlay.envelopes().isEmpty)
    }

    @Test("A damaged record of a document gives an error")
    func damaged() throws {
        let record = DocumentRecord(try Samples.stored(Samples.message(Self.type, subject: "a", key: "k"), at: 77))
        let fields = Dictionary(record.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        #expect(try record.roundTrip() == record.stored)
        for value in ["", "1", "1/0", "1/x", "1/2/3", "/1"] {
            #expect(throws: ProtocolError.self) {
                try DocumentRecord(fields: ["Segue-Position": value], body: record.body)
            }
        }
        for length in 0..<record.body.count {
            #expect(throws: ProtocolError.self) {
                try DocumentRecord(fields: fields, body: Array(record.body[..<length]))
            }
        }
        #expect(throws: ProtocolError.self) { try DocumentRecord(fields: fields, body: record.body + [0]) }
    }
}

extension DocumentRecord {
    fileprivate func roundTrip() throws -> BatchMessage.Stored {
        let fields = Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return try DocumentRecord(fields: fields, body: body).stored
    }
}
