package import EventBus
internal import Foundation
package import Logging
package import NATS
internal import NATSLayout

/// The settings of a steward.
package struct StewardConfiguration: Sendable {
    /// The namespace of the bus.
    package var namespace: String
    /// The number of servers that store each stream. Nil for the number that the streams have; 1 for new ones.
    package var replicas: Int?
    package var limits: RetentionLimits
    /// The CloudEvents source of the messages that withdraw documents.
    package var source: String
    /// Turns a notice into a message, which the steward publishes. Nil, or a nil result, publishes nothing.
    package var describe: (@Sendable (BusNotice) -> Envelope?)?

    package init(
        namespace: String, replicas: Int? = nil, limits: RetentionLimits = .standard, source: String = "broker",
        describe: (@Sendable (BusNotice) -> Envelope?)? = nil
    ) {
        self.namespace = namespace
        self.replicas = replicas
        self.limits = limits
        self.source = source
        self.describe = describe
    }
}

/// The background work of a bus on NATS: it makes the streams, keeps the retained documents and the dead
/// letters, withdraws what silent clients have leased, and removes old messages.
///
/// Several stewards may run; one of them leads, and the others follow. Messages do not pass through it, so publishing
/// and reading continue without a steward.
package struct Steward: Sendable {
    package enum Role: Hashable, Sendable {
        case follower
        case leader(term: UInt64)
    }

    private let configuration: StewardConfiguration
    private let connection: NATSConnection
    private let logger: Logger
    private let names: StreamNames
    private let jetStream: JetStream

    package init(_ options: NATSOptions, _ configuration: StewardConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        connection = NATSConnection(options)
        names = StreamNames(configuration.namespace)
        jetStream = JetStream(connection)
    }

    /// Serves until the task is cancelled.
    /// - Parameter onRole: Called when the role of this process changes. At the first call, the streams exist.
    /// - Throws: ``BusError`` if the servers cannot be used for a bus, or do not accept the key.
    package func run(onRole: @escaping @Sendable (Role) async throws -> Void = { _ in }) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.connection.run() }
            group.addTask {
                await self.connection.waits.watch(after: ListeningPeriod.patience) {
                    self.logger.warning("\($0)", metadata: ["code": "journal.waiting"])
                }
                throw CancellationError()
            }
            group.addTask {
                try await self.connection.watchRefusals()
                throw CancellationError()
            }
            group.addTask { try await self.serve(onRole) }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch is NATSError where Task.isCancelled {
                // The connection ends first; what still uses it then fails.
                throw CancellationError()
            } catch let error as NATSError where error.code == .unauthenticated {
                throw BusError(.denied, error.message)
            }
        }
    }

    private func serve(_ onRole: @escaping @Sendable (Role) async throws -> Void) async throws {
        let setup = JournalSetup(jetStream, names: names, configuration: configuration, logger: logger)
        try await setup.checkServer()
        _ = try await setup.journal()
        let driver = ElectionDriver(jetStream, names)
        try await withThrowingTaskGroup { group in
            group.addTask { try await setup.checkServers() }
            group.addTask { try await driver.listen() }
            group.addTask {
                while true {
                    _ = try await driver.waitUntilElected { try await onRole(.follower) }
                    try await lead(driver, setup: setup, onRole: onRole)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Leads until another steward is elected.
    private func lead(
        _ driver: ElectionDriver, setup: JournalSetup, onRole: @escaping @Sendable (Role) async throws -> Void
    ) async throws {
        while let record = await driver.term {
            logger.info("leading", metadata: ["bus": "\(names.namespace)", "term": "\(record.term)"])
            try await onRole(.leader(term: record.term))
            do {
                // The streams may have been deleted, or have another epoch.
                try await work(under: record, driver, try await setup.journal())
            } catch is Deposed {
                logger.warning("another steward leads", metadata: ["bus": "\(names.namespace)"])
                await driver.resign()
            } catch is EpochChanged {
                continue
            } catch let error where !(Task.isCancelled || error is CancellationError || error is BusError) {
                // A steward that is stopped may lose its connection before its work ends. That is no failure.
                logger.error("the steward's work has failed and is restarted", metadata: ["error": "\(error)"])
                await driver.resign()
            }
        }
    }

    private func work(under record: StewardRecord, _ driver: ElectionDriver, _ epochs: JournalEpochs) async throws {
        let notices = StewardNotices(jetStream, names: names, configuration: configuration, logger: logger)
        let projection = Projection(
            jetStream, names: names, epochs: epochs, notices: notices, steward: record, logger: logger)
        let leases = LeaseKeeper(
            jetStream, names: names, epochs: epochs, source: configuration.source, projection: projection,
            notices: notices, logger: logger)
        let end = JournalEnd(jetStream, names: names, epochs: epochs, notices: notices)
        let retention = Retention(
            jetStream, names: names, epochs: epochs, limits: configuration.limits, projection: projection,
            notices: notices, logger: logger)
        let check = ReplicaCheck(jetStream, names: names, epoch: epochs.current, notices: notices, logger: logger)
        try await withThrowingTaskGroup { group in
            group.addTask { try await notices.run() }
            group.addTask { try await driver.keep(reporting: notices.report) }
            group.addTask(executorPreference: connection.executor) { try await projection.run() }
            group.addTask(executorPreference: connection.executor) { try await leases.run() }
            group.addTask { try await end.watch { await leases.knownEnd } }
            group.addTask { try await retention.run() }
            group.addTask { try await check.run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
