public import Consuming
public import EventBus
public import Foundation
public import Logging

/// What a running process offers its services.
public struct ServiceContext: Sendable {
    public let process: ServiceProcess
    public let bus: any EventBus
    /// Where the bus is, for people to read.
    public let busAddress: String
    public let configuration: ServiceConfiguration
    public let logger: Logger
    /// What its consumers have done. The presence shows it.
    public let metrics = ConsumerMetrics()

    public init(
        process: ServiceProcess, bus: any EventBus, busAddress: String, configuration: ServiceConfiguration,
        logger: Logger
    ) {
        self.process = process
        self.bus = bus
        self.busAddress = busAddress
        self.configuration = configuration
        self.logger = logger
    }

    /// The value of an environment variable that the process cannot do without.
    /// - Throws: ``ConfigurationError`` that names the variable.
    public func require(_ name: String) throws -> String {
        try configuration.require(name)
    }

    /// The folder where this process keeps its state, readable by its owner only.
    /// - Throws: ``ConfigurationError`` if `SEGUE_STATE_DIR` is not set or the folder cannot be made.
    public var stateDirectory: URL {
        get throws { try configuration.stateDirectory(for: process.name) }
    }

    /// How often a person who watches the log is reminded of what the process is waiting for.
    private static let reminderInterval: Duration = .seconds(5)

    /// Does something on the bus, however long the bus takes to come up. A transport may wait for its broker or throw
    /// `unavailable`; either way the log says what is missing.
    func waitingForBus(
        clock: any Clock<Duration>, _ operation: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await BusRetry(logger: logger, clock: clock).run(operation) }
            group.addTask {
                var level = Logger.Level.warning
                while true {
                    try await clock.sleep(for: Self.reminderInterval)
                    logger.log(level: level, "waiting for the bus at \(busAddress)")
                    level = .info
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

extension MessageConsumer {
    /// A consumer of a running process.
    public init(_ consumer: String, in process: ServiceContext) {
        self.init(consumer, bus: process.bus, logger: process.logger, metrics: process.metrics)
    }
}

extension QueryServer {
    /// A server of a running process.
    public init(in process: ServiceContext) {
        self.init(bus: process.bus, logger: process.logger)
    }
}

extension ScreenWork {
    /// The work of a running process.
    public init(_ consumer: String, in process: ServiceContext) {
        self.init(consumer, bus: process.bus, logger: process.logger, metrics: process.metrics)
    }
}
