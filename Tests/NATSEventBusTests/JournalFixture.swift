import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Steward
import Testing

@testable import NATSEventBus

/// A message of the tests.
struct Numbered: EventMessage {
    var number: Int
}

/// A document of the tests.
struct Setting: DocumentMessage {
    var name: String?
    var value: String

    var key: String? { name }
}

/// The parts of a bus, as one process has them.
struct BusParts: Sendable {
    let source: String
    let producer: ProducerID
    let journal: JournalConnection
    let claims: Claims
    let results: ResultPublisher
    let deadLetters: DeadLetters
    let leases: Leases
    let queries: Queries
    let send: Send

    init(_ journal: JournalConnection, source: String) {
        self.source = source
        self.journal = journal
        let producer = ProducerID()
        let numbers = Counter()
        // One message at a time, until it is acknowledged.
        send = { publication in
            let (headers, subject) = await (publication.headers(producer, numbers.next()), publication.subject)
            return try await journal.retrying {
                let epoch = try await journal.identity().epoch
                let stored = try await journal.jetStream.publish(
                    journal.subject(subject), headers: headers, body: publication.body, timeout: .seconds(2))
                let sequence = UInt64(stored.sequence)
                return Lanes.Recorded(
                    epoch: epoch, sequence: sequence,
                    offset: publication.count > 0 ? StreamPosition.end(of: sequence) : nil)
            }
        }
        self.producer = producer
        deadLetters = DeadLetters(journal: journal)
        // The tests have few messages.
        claims = Claims(journal, floorStep: 10, patience: .seconds(2), logger: .quiet)
        results = ResultPublisher(journal, claims: claims, deadLetters: deadLetters, send: send)
        leases = Leases(journal, producer: producer, source: source, results: results, send: send)
        queries = Queries(journal, source: source, discoveryTimeout: .seconds(1))
    }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                await claims.run { _ = try await results.publish(Batch([], checkpoint: $0), $0) }
            }
            group.addTask { await leases.run() }
            group.addTask { try await queries.run() }
        }
    }

    // MARK: Publishing

    /// Publishes a batch as a bus does.
    @discardableResult
    func publish(_ batch: Batch) async throws -> Position {
        if let checkpoint = batch.checkpoint {
            return try await results.publish(batch, checkpoint)
        }
        if batch.isLeased { return try await leases.publish(batch) }
        let recorded =
            if !batch.resolvedDeadLetters.isEmpty {
                try await deadLetters.settle(batch, send: send)
            } else {
                try await send(Publication(batch))
            }
        return recorded.position ?? Position(epoch: recorded.epoch, offset: StreamPosition.end(of: recorded.sequence))
    }

    @discardableResult
    func publish(_ numbers: some Sequence<Int>, subject: String = Session.default) async throws -> Position {
        try await publish(Batch(numbers.map { try Envelope(Numbered(number: $0), source: source, subject: subject) }))
    }

    /// The code with which a batch is refused; nil if it is published.
    func code(of batch: Batch) async throws -> BusError.Code? {
        do {
            try await publish(batch)
            return nil
        } catch let error as BusError {
            return error.code
        }
    }

    /// All messages of the journal now, in order.
    func messages() async throws -> [Envelope] {
        let epoch = try await journal.identity().epoch
        let end = StreamPosition.end(of: try await journal.lastBatch())
        var messages: [Envelope] = []
        try await BatchReader(journal, patterns: [], after: 0, until: end, epoch: epoch).read { message in
            let batch = try BatchMessage(fields: message.message.headers.fields, body: message.message.body)
            let content = try batch.content(at: UInt64(message.streamSequence), of: epoch)
            messages += try content.messages.map { try $0.envelope() }
            return .goOn
        }
        return messages
    }

    func numbers() async throws -> [Int] {
        try await messages().filter { $0.type == Numbered.type }.map { try $0.decode(Numbered.self).number }
    }

    /// The numbered messages that a claim covers.
    func read(under claim: ConsumerClaim) async throws -> [Envelope] {
        try await messages().filter { $0.type == Numbered.type && claim.covers($0) }
    }
}

actor Counter {
    private var last: UInt64 = 0

    func next() -> UInt64 {
        last += 1
        return last
    }
}

extension Publication {
    fileprivate func headers(_ producer: ProducerID, _ number: UInt64) -> NATSHeaders {
        let headers = BatchHeaders(
            id: (id ?? .batch(producer, number: number)).description, count: count, progress: progress,
            hasRejection: hasRejection, resolvedDeadLetters: resolvedDeadLetters, lease: lease, expectation: expectation
        )
        var fields = NATSHeaders()
        for (name, value) in headers.fields { fields[name] = value }
        return fields
    }
}

/// Runs `body` with an own nats-server that has the streams of a journal.
struct JournalFixture: Sendable {
    let server: NATSServer

    static func run<Result: Sendable>(
        _ body: @escaping @Sendable (JournalFixture) async throws -> Result
    ) async throws -> Result {
        try await NATSServer().whileRunning { server in
            try await withConnection([server.url]) { connection in
                _ = try await JournalStreams().make(StreamNames("SEGUE"), on: JetStream(connection))
            }
            return try await body(JournalFixture(server: server))
        }
    }

    /// Runs `body` with the parts of a process of its own, which end with it.
    typealias WithParts =
        @Sendable (_ source: String, _ body: @escaping @Sendable (BusParts) async throws -> Void) async throws -> Void

    /// Runs `body` with three servers that have the streams of a journal.
    static func runCluster(
        _ body: @escaping @Sendable (NATSCluster, @escaping WithParts) async throws -> Void
    ) async throws {
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(cluster.urls) { connection in
                let names = StreamNames("SEGUE")
                // The servers need some time to find each other.
                while true {
                    do {
                        _ = try await JournalStreams(replicas: 3).make(names, on: JetStream(connection))
                        return
                    } catch is JetStreamError {
                    } catch is NATSError {}
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            try await body(cluster) { source, body in
                try await withParts(source, cluster.urls, body)
            }
        }
    }

    private static func withConnection<Result: Sendable>(
        _ urls: [String], _ body: @escaping @Sendable (NATSConnection) async throws -> Result
    ) async throws -> Result {
        let connection = NATSConnection(NATSOptions(servers: urls, name: "test"))
        return try await whileRunning {
            try await connection.run()
        } during: {
            try await connection.waitUntilConnected(timeout: .seconds(30))
            return try await body(connection)
        }
    }

    /// Runs `body` with the parts of a process of its own.
    func withParts<Result: Sendable>(
        _ source: String = "test/1", _ body: @escaping @Sendable (BusParts) async throws -> Result
    ) async throws -> Result {
        try await Self.withParts(source, [server.url], body)
    }

    private static func withParts<Result: Sendable>(
        _ source: String, _ urls: [String], _ body: @escaping @Sendable (BusParts) async throws -> Result
    ) async throws -> Result {
        let hosts = urls.map { $0.dropFirst("nats://".count) }.joined(separator: ",")
        let address = try NATSAddress("nats://\(hosts)/SEGUE")
        let options = NATSOptions(servers: address.urls, name: source)
        let journal = JournalConnection(address, options: options, logger: .quiet)
        let parts = BusParts(journal, source: source)
        return try await whileRunning {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await journal.connection.run() }
                group.addTask { try await journal.run() }
                group.addTask { try await parts.run() }
            }
        } during: {
            _ = try await journal.identity()
            return try await body(parts)
        }
    }

    /// Runs `body` with two processes.
    func withTwo<Result: Sendable>(
        _ body: @escaping @Sendable (BusParts, BusParts) async throws -> Result
    ) async throws -> Result {
        try await withParts("first/1") { first in
            try await withParts("second/1") { second in try await body(first, second) }
        }
    }

    private static func whileRunning<Result: Sendable>(
        _ run: @escaping @Sendable () async throws -> Void,
        during body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                do { try await run() } catch is CancellationError {}
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}

extension Sequence where Element == Envelope {
    var numbersRead: [Int] { compactMap { try? $0.decode(Numbered.self).number } }
}
