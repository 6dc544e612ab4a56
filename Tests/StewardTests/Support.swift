import BusFormat
import EventBus
import Foundation
import Logging
import NATS
import NATSLayout
import NATSTestSupport
import TestSupport
import Testing

@testable import Steward

/// The journal of a test on a real server, and the writers that a test plays.
struct TestJournal: Sendable {
    let server: NATSServer
    let jetStream: JetStream
    let names: StreamNames
    let journal: JournalEpochs

    static let logger = Logger.silent

    var connection: NATSConnection { jetStream.connection }

    /// Runs `body` with the streams of a bus on a new server.
    static func run<Result: Sendable>(_ body: @escaping @Sendable (TestJournal) async throws -> Result) async throws {
        try await NATSServer().whileRunning { server in
            let connection = NATSConnection(NATSOptions(servers: [server.url], name: "test"))
            try await withThrowingTaskGroup { group in
                group.addTask { try await connection.run() }
                defer { group.cancelAll() }
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection)
                let names = StreamNames("TEST")
                let setup = JournalSetup(
                    jetStream, names: names, configuration: StewardConfiguration(namespace: "TEST"), logger: logger)
                let journal = try await setup.journal()
                _ = try await body(
                    TestJournal(server: server, jetStream: jetStream, names: names, journal: journal))
            }
        }
    }

    /// Notices that are logged only.
    var notices: StewardNotices {
        StewardNotices(
            jetStream, names: names, configuration: StewardConfiguration(namespace: "TEST"), logger: Self.logger)
    }

    func text(_ subject: BusSubject) -> String { subject.text(in: names.namespace) }

    /// Publishes a batch as a client does.
    @discardableResult
    func publish(
        _ messages: [Envelope], lease: ProducerID? = nil, settles: [Int64] = [], expecting: LastSequence? = nil,
        to subject: BusSubject? = nil
    ) async throws -> Int {
        let publication = try Publication(Batch(messages))
        let headers = BatchHeaders(id: "", count: publication.count, resolvedDeadLetters: settles, lease: lease)
        return try await jetStream.publish(
            text(subject ?? publication.subject), headers: NATSHeaders(headers.fields), body: publication.body,
            expecting: expecting
        ).sequence
    }

    /// Publishes a batch that gives up a message.
    func reject(_ message: Envelope, at offset: UInt64, by consumer: String) async throws -> Int {
        let owner = ConsumerPartition(consumer, Partition(subject: message.subject))
        let rejected = try RejectedMessage(
            Rejection(code: "test", reason: "a test", attempts: 3),
            of: Envelope(
                attributes: message.attributes, data: message.data,
                position: Position(epoch: journal.current, offset: offset)))
        let progress = RecordedProgress(ownerGeneration: 1, offset: offset, settled: offset, partition: owner.partition)
        let headers = BatchHeaders(id: "", count: 0, progress: progress, hasRejection: true)
        return try await jetStream.publish(
            text(.results(owner, .none)), headers: NATSHeaders(headers.fields), body: rejected.bytes
        ).sequence
    }

    @discardableResult
    func write(_ record: some LayoutRecord, to subject: BusSubject, after last: Int = 0) async throws -> Int {
        try await jetStream.publish(text(subject), body: try record.json(), expecting: LastSequence(last)).sequence
    }

    func last<Record: LayoutRecord>(_ subject: BusSubject, as type: Record.Type = Record.self) async throws -> Record? {
        try await jetStream.lastMessage(of: names.journal, subject: text(subject)).map { try Record(json: $0.body) }
    }

    // MARK: Reading

    /// The retained documents as a client reads them.
    func documents() async throws -> [Envelope] {
        let watermark = try await jetStream.lastMessage(of: names.documents, subject: text(.documentWatermark))
            .map { try WatermarkRecord(json: $0.body) }
        var overlay = Overlay([.kind(.document)], epoch: journal.current)
        let recorded = ConsumerSettings(filters: [names.allDocuments], start: .lastPerSubject)
        try await jetStream.readAll(of: names.documents, recorded) { delivered in
            overlay.add(
                try DocumentRecord(fields: delivered.message.headers.fields, body: delivered.message.body).stored)
        }
        for stored in try await messages(after: watermark?.sequence ?? 0) { overlay.add(stored) }
        return overlay.envelopes()
    }

    /// The documents of the projection alone.
    func projected() async throws -> [Envelope] {
        var overlay = Overlay([.kind(.document)], epoch: journal.current)
        let recorded = ConsumerSettings(filters: [names.allDocuments], start: .lastPerSubject)
        try await jetStream.readAll(of: names.documents, recorded) { delivered in
            overlay.add(
                try DocumentRecord(fields: delivered.message.headers.fields, body: delivered.message.body).stored)
        }
        return overlay.envelopes()
    }

    /// The retained documents computed from the whole journal.
    func folded() async throws -> [Envelope] {
        var last: [DocumentName: BatchMessage.Stored] = [:]
        for stored in try await messages(after: 0) {
            if let name = stored.documentName { last[name] = stored }
        }
        return try last.values.filter { !$0.message.data.isEmpty }
            .sorted { $0.position.offset < $1.position.offset }.map { try $0.envelope() }
    }

    func messages(after sequence: UInt64) async throws -> [BatchMessage.Stored] {
        var messages: [BatchMessage.Stored] = []
        let settings = ConsumerSettings(filters: [names.batches], start: .sequence(Int(sequence) + 1))
        try await jetStream.readAll(of: names.journal, settings) { delivered in
            let batch = try BatchMessage(fields: delivered.message.headers.fields, body: delivered.message.body)
            messages += try batch.content(at: UInt64(delivered.streamSequence), of: journal.current).messages
        }
        return messages
    }

    func deadLetters() async throws -> [Int64: DeadLetter] {
        var deadLetters: [Int64: DeadLetter] = [:]
        let settings = ConsumerSettings(filters: [names.deadLetterFilter(of: nil)])
        try await jetStream.readAll(of: names.deadLetters, settings) { delivered in
            guard case .deadLetter(let consumer, let sequence) = BusSubject(delivered.subject, in: "TEST") else {
                throw Unexpected(description: delivered.subject)
            }
            let record = try DeadLetterRecord(fields: delivered.message.headers.fields, body: delivered.message.body)
            deadLetters[Int64(sequence)] = try record.deadLetter(of: consumer, sequence: sequence)
        }
        return deadLetters
    }

    // MARK: Waiting

    /// Reads the records of a subject until one satisfies a condition.
    @discardableResult
    func wait<Record: LayoutRecord>(
        for subject: BusSubject, in stream: String? = nil, as type: Record.Type = Record.self,
        until isWanted: @escaping @Sendable (Record) -> Bool
    ) async throws -> Int {
        let settings = ConsumerSettings(filters: [text(subject)], start: .lastPerSubject)
        do {
            try await jetStream.follow(stream ?? names.journal, settings) { delivered in
                // A test may have damaged the record.
                guard let delivered, let record = try? Record(json: delivered.message.body), isWanted(record) else {
                    return
                }
                throw Found(sequence: delivered.streamSequence)
            }
        } catch let found as Found {
            return found.sequence
        }
    }

    private struct Found: Error {
        let sequence: Int
    }

    /// Waits until the watermark has reached a sequence.
    func waitUntilMark(_ sequence: Int) async throws {
        try await wait(for: .documentWatermark, in: names.documents, as: WatermarkRecord.self) {
            $0.sequence >= UInt64(sequence)
        }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
}

/// A message of a test.
func message(
    _ kind: MessageKind, _ name: String = "D", subject: String = "default", key: String? = nil, data: String = "{}"
) -> Envelope {
    var attributes = Attributes(type: MessageType(kind: kind, name: name), source: "test/1", subject: subject)
    attributes.key = key
    return Envelope(attributes: attributes, data: Data(data.utf8))
}
