internal import BusFormat
public import EventBus
public import Foundation
public import Logging
internal import NATS
internal import NATSLayout
internal import Support
internal import Synchronization

extension EventBus {
    /// A bus on NATS JetStream. It connects in `run()`.
    ///
    /// The streams are made by the steward, the `broker` with the same address; until they exist, calls wait. Calls
    /// also wait while no server answers.
    /// - Parameters:
    ///   - address: `nats://HOST[:PORT][,HOST…][/NAME]`, or `tls://…`.
    ///   - source: The CloudEvents source of the messages that this process publishes: `name/instance`.
    ///   - variables: The variables that name files with the rights of the client: `SEGUE_BUS_CURVE` (the
    ///     process's key file, which has an nkey), or instead of it `SEGUE_BUS_CREDS` (the JWT and seed of a user) or
    ///     `SEGUE_BUS_NKEY` (the seed of an nkey); `SEGUE_BUS_CA` (the authorities of the servers' certificates),
    ///     `SEGUE_BUS_CERT` and `SEGUE_BUS_KEY` (the client's certificate and its key). None is needed on servers
    ///     without users and TLS.
    /// - Throws: `BusError` with code `address` if the address cannot be used.
    public static func nats(
        address: String, source: String, logger: Logger,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> EventBus {
        EventBus(try NATSEventBus(address: address, source: source, logger: logger, variables: variables))
    }
}

/// The engine on NATS JetStream. The journal is one stream, and each batch is one message of it.
package final class NATSEventBus: EventBusEngine {
    package let source: String
    let producer = ProducerID()
    let journal: JournalConnection
    let publisher: Publisher
    let claims: Claims
    let results: ResultPublisher
    let deadLetters: DeadLetters
    let leases: Leases
    let queries: Queries
    /// Publishes a batch whose expectation protects it.
    let send: Send
    let skipped: SkippedMessages
    let logger: Logger
    private let hasBegun = Mutex(false)

    package init(
        address: String, source: String, logger: Logger,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let address = try NATSAddress(address)
        self.source = source
        self.logger = logger
        skipped = SkippedMessages(logger: logger)
        var options = NATSOptions(servers: address.urls, name: source)
        options.setFiles { variables[$0] }
        journal = JournalConnection(address, options: options, logger: logger)
        let publisher = Publisher(journal, producer: producer, logger: logger)
        self.publisher = publisher
        send = { publication in try await publisher.publish { publication } }
        claims = Claims(journal, logger: logger)
        deadLetters = DeadLetters(journal: journal)
        results = ResultPublisher(journal, claims: claims, deadLetters: deadLetters, send: send)
        leases = Leases(journal, producer: producer, source: source, results: results, send: send)
        queries = Queries(journal, source: source)
    }

    package var taskExecutor: (any SerialExecutor & TaskExecutor)? { journal.connection.executor }

    package func waitUntilConnected(timeout: Duration) async throws {
        _ = try await withTimeLimit(timeout, orThrow: journal.waitError) {
            try await self.journal.lastSequence()
        }
    }

    package func run() async throws {
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        guard isFirst else { throw BusError(.closed, "run() was called before; create another bus") }
        let end = Latch()
        // Not a child task, which would be cancelled together with this one: at its end, the process still uses the
        // connection to withdraw its leased documents and to leave its durable consumers.
        let work = Task { try await serve(until: end) }
        try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            end.open()
        }
        throw CancellationError()
    }

    private func serve(until end: Latch) async throws {
        defer {
            publisher.close()
            journal.close()
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await end.waitUntilOpenOrCancelled()
                    await self.leases.end()
                    await self.claims.leaveAll()
                    throw CancellationError()
                }
                group.addTask { try await self.journal.connection.run() }
                group.addTask { try await self.journal.run() }
                group.addTask { await self.journal.checkLosses() }
                group.addTask { await self.journal.reportWaits() }
                group.addTask { await self.publisher.run() }
                group.addTask { try await self.sendHeartbeats() }
                group.addTask { await self.leases.run() }
                group.addTask { await self.claims.run { try await self.record($0) } }
                group.addTask { try await self.answerQueries() }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch let error as NATSError {
            throw BusError(error)
        }
    }

    /// Records progress without messages, for a reader that waits.
    private func record(_ checkpoint: Checkpoint) async throws {
        _ = try await results.publish(Batch([], checkpoint: checkpoint), checkpoint)
    }

    private func answerQueries() async throws {
        do {
            try await queries.run()
        } catch let error as BusError where error.code == .forbidden {
            // A process without this right neither asks nor answers.
            logger.info("this user may not take part in queries: \(error.message)")
        }
    }

    /// Reports to the steward each second that this process is alive. Without a steward there is no reply; none is
    /// needed.
    private func sendHeartbeats() async throws {
        while true {
            if journal.isKnown {
                var parts = journal.heartbeat(of: producer, members: await claims.heartbeatMembers).parts
                let last = parts.popLast()
                for part in parts { try? journal.connection.publish(journal.subject(.heartbeat), body: part.json()) }
                if let last { await requestHeartbeatReply(to: last) }
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func requestHeartbeatReply(to heartbeat: Heartbeat) async {
        guard
            let reply = try? await journal.connection.request(
                journal.subject(.heartbeat), body: heartbeat.json(), timeout: .seconds(1)),
            let reply = try? HeartbeatReply(json: reply.body)
        else { return }
        await journal.handle(epoch: reply.epoch)
    }
}
