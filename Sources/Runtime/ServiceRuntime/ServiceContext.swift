public import Consuming
public import EventBus
public import Foundation
public import Logging

/// The parts of a running process that its services use: the bus, the settings, the logger and the counts.
public struct ServiceContext: Sendable {
    public let process: ServiceProcess
    public let bus: EventBus
    public let busAddress: String
    public let configuration: ServiceConfiguration
    public let logger: Logger
    /// The counts of the process's consumers.
    public let metrics = ConsumerMetrics()

    public init(
        process: ServiceProcess, bus: EventBus, busAddress: String, configuration: ServiceConfiguration,
        logger: Logger
    ) {
        self.process = process
        self.bus = bus
        self.busAddress = busAddress
        self.configuration = configuration
        self.logger = logger
    }

    /// The value of a required environment variable.
    /// - Throws: ``ConfigurationError`` that names the variable if it is not set or is empty.
    public func require(_ name: String) throws -> String {
        try configuration.require(name)
    }

    /// The folder for the state of this process: `SEGUE_STATE_DIR/NAME`. If it does not exist, it is created with
    /// access for its owner only.
    /// - Throws: ``ConfigurationError`` if `SEGUE_STATE_DIR` is not set or the folder cannot be created.
    public var stateDirectory: URL {
        get throws { try configuration.stateDirectory(for: process.name) }
    }

    /// The interval of the log lines that say that the process waits for the bus.
    private static let reminderInterval: Duration = .seconds(5)

    /// Performs an operation on the bus, and repeats it as ``BusRetry`` does, without a time limit. Meanwhile the
    /// process logs at each ``reminderInterval`` that it waits for the bus.
    func waitingForBus(
        clock: any Clock<Duration>, _ operation: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await BusRetry(holding: .nothing, logger: logger, clock: clock).run(operation) }
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

extension HandlerService {
    /// Runs handlers with the bus, the logger and the counts of a process.
    public init(_ handlers: Handlers, in process: ServiceContext) {
        self.init(handlers, bus: process.bus, logger: process.logger, metrics: process.metrics)
    }
}
