internal import BusProtocol
public import EventBus
internal import Foundation
public import Logging
internal import NATS
internal import NATSLayout
internal import Synchronization

/// The files with the rights of a client on the NATS servers. None of them is needed on servers without users and TLS.
public struct NATSCredentials: Hashable, Sendable {
    /// A file with a user's JWT and seed, as `nsc` writes it.
    public var credentialsFile: String?
    /// A file with the seed of a user's nkey (`SU…`).
    public var nkeyFile: String?
    /// A PEM file with the certificates of the authorities that may sign the servers' certificates; nil for those of
    /// the system.
    public var authorityFile: String?
    /// A PEM file with the client's certificate. Needs ``keyFile``.
    public var certificateFile: String?
    /// A PEM file with the key of the client's certificate.
    public var keyFile: String?

    public init() {}
}

/// An event bus on NATS JetStream.
///
/// The journal is one stream, and each batch is one message of it. The streams are made by the steward, the `broker` with
/// the same address; until they exist, calls wait. Calls also wait while no server answers.
///
///     let bus = try NATSEventBus(address: "nats://127.0.0.1:4222", source: "music-service/1", logger: logger)
///     try await bus.whileOpen { try await bus.publish(Event.PlaybackStarted()) }
public final class NATSEventBus: EventBus {
    public let source: String
    let producer = ProducerID()
    let journal: Journal
    let publisher: Publisher
    let skipped: SkippedMessages
    let logger: Logger
    private let hasBegun = Mutex(false)

    /// Creates a bus. It connects in ``run()``.
    /// - Parameters:
    ///   - address: `nats://HOST[:PORT][,HOST…][/NAME]`, or `tls://…`.
    ///   - source: The CloudEvents source of the messages that this process publishes: `name/instance`.
    /// - Throws: ``BusError`` with code `address` if the address cannot be used.
    public init(
        address: String, source: String, logger: Logger, credentials: NATSCredentials = NATSCredentials()
    ) throws {
        let address = try NATSAddress(address)
        self.source = source
        self.logger = logger
        skipped = SkippedMessages(logger: logger)
        journal = Journal(address, options: NATSOptions(address, source: source, credentials), logger: logger)
        publisher = Publisher(journal, producer: producer, logger: logger)
    }

    public func waitUntilConnected(timeout: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await self.journal.lastSequence() }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw BusError(.unavailable, self.journal.problem)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    public func run() async throws {
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        guard isFirst else { throw BusError(.closed, "run() was called before; create another bus") }
        journal.connection.setFarewell { [weak self] in
            guard let self, let body = try? heartbeat(isLast: true).json() else { return nil }
            return (journal.subject(.heartbeat), body)
        }
        defer {
            publisher.close()
            journal.close()
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.journal.connection.run() }
                group.addTask { try await self.journal.run() }
                group.addTask { await self.publisher.run() }
                group.addTask { try await self.sendHeartbeats() }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch let error as NATSError {
            throw BusError(error)
        }
        throw CancellationError()
    }

    private func heartbeat(isLast: Bool = false) -> Heartbeat {
        journal.heartbeat(of: producer, members: [], isLast: isLast)
    }

    /// Tells the steward each second that this process is alive. Without a steward there is no reply, and nobody needs
    /// one.
    private func sendHeartbeats() async throws {
        while true {
            if journal.isKnown, let body = try? heartbeat().json() {
                let reply = try? await journal.connection.request(
                    journal.subject(.heartbeat), body: body, timeout: .seconds(1))
                if let body = reply?.body, let reply = try? HeartbeatReply(json: body) {
                    await journal.note(epoch: reply.epoch)
                }
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

/// Logs each message that was not delivered because it cannot be read, with the number of such messages so far.
final class SkippedMessages: Sendable {
    private let logger: Logger
    private let count = Atomic<Int>(0)

    init(logger: Logger) {
        self.logger = logger
    }

    func note(_ reason: String) {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        logger.warning(
            "a message was skipped", metadata: ["reason": "\(reason.shortened(to: 500))", "skipped": "\(count)"])
    }
}

extension NATSOptions {
    fileprivate init(_ address: NATSAddress, source: String, _ credentials: NATSCredentials) {
        self.init(servers: address.urls, name: source)
        credentialsFile = credentials.credentialsFile
        nkeyFile = credentials.nkeyFile
        authorityFile = credentials.authorityFile
        certificateFile = credentials.certificateFile
        keyFile = credentials.keyFile
    }
}
