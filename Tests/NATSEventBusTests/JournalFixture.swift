import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Steward
import TestSupport
import Testing

@testable import NATSEventBus

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
            let headers = publication.headers(producer, UInt64(numbers.increment()))
            return try await journal.retrying {
                let epoch = try await journal.identity().epoch
                let stored = try await journal.jetStream.publish(
                    journal.subject(publication.subject), headers: headers, body: publication.body, timeout: .seconds(2)
                )
                let sequence = UInt64(stored.sequence)
                return Lanes.Recorded(
                    epoch: epoch, sequence: sequence,
                    offset: publication.count > 0 ? StreamPosition.end(of: sequence) : nil)
            }
        }
        self.producer = producer
        deadLetters = DeadLetters(journal: journal)
        // The tests have few messages.
        claims = Claims(journal, floorStep: 10, patience: .seconds(2), logger: .silent)
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
        try await publish(Batch(numbers.map { try Envelope(Counted(number: $0), source: source, subject: subject) }))
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
        try await messages().filter { $0.type == Counted.type }.map { try $0.decode(Counted.self).number }
    }

    /// The numbered messages that a claim covers.
    func read(under claim: ConsumerClaim) async throws -> [Envelope] {
        try await messages().filter { $0.type == Counted.type && claim.covers($0) }
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
            try await makeStreams("SEGUE", NATSOptions(servers: [server.url], name: "test"))
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
            try await makeStreams("SEGUE", NATSOptions(servers: cluster.urls, name: "test"), replicas: 3)
            try await body(cluster) { source, body in
                try await withParts(source, cluster.urls, body)
            }
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
        let journal = JournalConnection(address, options: options, logger: .silent)
        let parts = BusParts(journal, source: source)
        return try await during {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await journal.connection.run() }
                group.addTask { try await journal.run() }
                group.addTask { try await parts.run() }
            }
        } _: {
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
}
