internal import ArgumentParser
internal import Broker
internal import EventBus
internal import Foundation
internal import ServiceRuntime

/// The options that depend on the kind of the bus.
struct JournalOptions: ParsableArguments {
    @Option(help: "The path of the journal, not on NATS. (default: broker/journal.sqlite in SEGUE_STATE_DIR)")
    var journal: String?

    @Option(
        help: """
            The failures that an acknowledged message survives: the kill of any process, or also a loss of power. Not on \
            NATS. (default: process)
            """)
    var durability: Durability?

    @Option(help: "The number of servers that store each message, on NATS: 1, 3 or 5. (default: as the bus has, or 1)")
    var replicas: Int?

    /// - Throws: ``ConfigurationError`` if an option is for NATS only.
    func brokerConfiguration(
        address: String, retention: RetentionLimits, configuration: ServiceConfiguration,
        process: ServiceProcess
    ) throws -> BrokerConfiguration {
        guard replicas == nil else {
            throw ConfigurationError(
                "--replicas is for a bus on NATS, and the bus is \(address)", recovery: "leave --replicas out")
        }
        let standard = { try configuration.stateDirectory(for: "broker").appendingPathComponent("journal.sqlite").path }
        return BrokerConfiguration(
            address: address, journal: try journal ?? standard(), durability: durability ?? .process,
            retention: retention, describe: { $0.envelope(source: process.source) })
    }

    /// The number of replicas on NATS. Nil if it is not given.
    /// - Throws: ``ConfigurationError`` if an option is not for NATS, or the number is not possible.
    func replicaCount() throws -> Int? {
        guard journal == nil else {
            throw ConfigurationError(
                "--journal is not for a bus on NATS: the servers store the journal",
                recovery: "leave --journal out, and set store_dir in the configuration of nats-server")
        }
        guard durability == nil else {
            throw ConfigurationError(
                "--durability is not for a bus on NATS: the servers decide it",
                recovery: "leave --durability out, and set sync_interval in the configuration of nats-server")
        }
        guard let replicas else { return nil }
        guard [1, 3, 5].contains(replicas) else {
            throw ConfigurationError("--replicas \(replicas) is not possible", recovery: "use 1, 3 or 5")
        }
        return replicas
    }
}

extension Durability: ExpressibleByArgument {}
