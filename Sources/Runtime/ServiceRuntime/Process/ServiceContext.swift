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
}
