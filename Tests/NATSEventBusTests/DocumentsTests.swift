import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSTestSupport
import TestSupport
import Testing

@testable import NATSEventBus
@testable import NATSLayout

/// The documents with what a steward has recorded.
@Suite("NATS bus: documents", .sharedServer, .timeLimit(.minutes(2)))
struct DocumentsTests {
    private struct Steward {
        let jetStream: JetStream
        let bus: TestBus

        /// Records a document under a position.
        func record(_ document: Envelope, at position: Position) async throws {
            let record = DocumentRecord(
                BatchMessage.Stored(message: try PublishedMessage(document), position: position))
            var headers = NATSHeaders()
            for field in record.fields { headers[field.name] = field.value }
            let name = DocumentName(document.type, subject: document.subject, key: document.attributes.key)
            _ = try await jetStream.publish(
                BusSubject.document(name).text(in: bus.namespace), headers: headers, body: record.body)
        }

        /// Records the watermark.
        func watermark(_ position: Position) async throws {
            let watermark = WatermarkRecord(
                sequence: StreamPosition(offset: position.offset).sequence, epoch: position.epoch)
            _ = try await jetStream.publish(
                BusSubject.documentWatermark.text(in: bus.namespace), body: watermark.json())
        }

        /// Removes everything up to the position from the journal.
        func purge(through position: Position) async throws {
            try await jetStream.purge(
                bus.names.journal, filter: bus.names.batches,
                before: Int(StreamPosition(offset: position.offset).sequence) + 1)
        }
    }

    private func withSteward(
        _ body: @escaping @Sendable (NATSEventBus, Steward) async throws -> Void
    ) async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            try await bus.withJetStream { try await body(client, Steward(jetStream: $0, bus: bus)) }
        }
    }

    private func publish(
        _ value: String, _ subject: String = "one", on bus: NATSEventBus
    ) async throws -> (Envelope, Position) {
        let document = try State(value: value).envelope(subject)
        return (document, try await bus.publish(Batch([document])))
    }

    private func values(_ bus: NATSEventBus, _ filters: [MessageFilter]) async throws -> [String] {
        try await bus.documents(matching: filters).map { try $0.decode(State.self).value }
    }

    @Test func `Records count up to the watermark, and the journal counts after it`() async throws {
        try await withSteward { bus, steward in
            let (first, firstPosition) = try await publish("1", on: bus)
            let (second, secondPosition) = try await publish("2", "two", on: bus)
            try await steward.record(first, at: firstPosition)
            try await steward.record(second, at: secondPosition)
            try await steward.watermark(secondPosition)
            _ = try await publish("3", "three", on: bus)
            // The journal no longer has what is recorded.
            try await steward.purge(through: secondPosition)
            #expect(try await values(bus, [.type(State.self)]) == ["1", "2", "3"])
            #expect(try await values(bus, [.type(State.self, subject: "one")]) == ["1"])
            #expect(try await bus.bus.document(State.self, subject: "one")?.value == "1")
            #expect(try await bus.bus.document(State.self, subject: "three")?.value == "3")
            #expect(try await bus.bus.document(State.self, subject: "four") == nil)
            _ = try await publish("4", "one", on: bus)
            #expect(try await values(bus, [.all]) == ["2", "3", "4"])
            let overlapping: [MessageFilter] = [.type(State.self), .kind(.document), .subject("one")]
            #expect(try await values(bus, overlapping) == ["2", "3", "4"])
            #expect(try await bus.bus.document(State.self, subject: "one")?.value == "4")
            let retained = try await bus.withSubscription(to: [.all], from: .retained) { try await $0.receive(3) }
            #expect(try retained.map { try $0.decode(State.self).value } == ["2", "3", "4"])
        }
    }

    @Test func `A record that is newer than the watermark is not replaced by an older message`() async throws {
        try await withSteward { bus, steward in
            let (_, firstPosition) = try await publish("1", on: bus)
            try await steward.watermark(firstPosition)
            _ = try await publish("2", on: bus)
            let (third, thirdPosition) = try await publish("3", on: bus)
            try await steward.record(third, at: thirdPosition)
            #expect(try await values(bus, [.type(State.self)]) == ["3"])
            #expect(try await bus.bus.document(State.self, subject: "one")?.value == "3")
        }
    }

    @Test func `A document that is withdrawn after the watermark is gone`() async throws {
        try await withSteward { bus, steward in
            let (first, position) = try await publish("1", on: bus)
            try await steward.record(first, at: position)
            try await steward.watermark(position)
            var tombstone = first
            tombstone.data = Data()
            try await bus.publish(Batch([tombstone]))
            #expect(try await values(bus, [.type(State.self)]).isEmpty)
            #expect(try await bus.bus.document(State.self, subject: "one") == nil)
        }
    }

    @Test func `Records of another epoch, and damaged ones, are ignored`() async throws {
        try await withSteward { bus, steward in
            let (first, position) = try await publish("1", on: bus)
            let foreign = Position(epoch: position.epoch ^ 1, offset: position.offset + 1_000_000)
            try await steward.record(try State(value: "foreign").envelope("one"), at: foreign)
            try await steward.watermark(foreign)
            #expect(try await values(bus, [.type(State.self)]) == ["1"])
            try await steward.record(first, at: position)
            try await steward.watermark(position)
            let damaged = BusSubject.document(DocumentName(State.type, subject: "two")).text(in: steward.bus.namespace)
            _ = try await steward.jetStream.publish(damaged, body: [1, 2, 3])
            #expect(try await values(bus, [.type(State.self)]) == ["1"])
            #expect(try await bus.bus.document(State.self, subject: "two") == nil)
            _ = try await steward.jetStream.publish(
                BusSubject.documentWatermark.text(in: steward.bus.namespace), body: Array("{}".utf8))
            #expect(try await values(bus, [.type(State.self)]) == ["1"])
        }
    }

    @Test func `The newest message of a type is known after retention has removed it`() async throws {
        try await withSteward { bus, steward in
            let counted = try #require(try await bus.publish(Counted(number: 1)).position)
            let (_, state) = try await publish("1", on: bus)
            var table = TypeTable()
            table.record(Counted.type, at: counted.offset)
            table.record(State.type, at: state.offset)
            _ = try await steward.jetStream.publish(
                BusSubject.typeTable.text(in: steward.bus.namespace), body: table.json())
            try await steward.watermark(state)
            try await steward.purge(through: counted)
            #expect(try await bus.bus.inspect.newest(matching: [.type(Counted.self)]) == counted)
            let (_, later) = try await publish("2", on: bus)
            #expect(
                try await bus.newestOfEachType(matching: [.all]) == [Counted.type: counted, State.type: later])
        }
    }
}
