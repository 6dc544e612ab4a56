package import ArgumentParser
internal import Broker
internal import BusKeys
internal import Contracts
internal import EventBus
internal import NATSLayout
internal import ServiceRuntime
internal import Support
internal import Transports

package struct BrokerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Delivers messages to subscribers, and records all but transient ones.",
        discussion: """
            broker --bus ipc:///tmp/bus --journal /tmp/journal.sqlite
            SEGUE_BUS_CURVE=keys/broker.key broker --bus tcp://0.0.0.0:5570 --retain-age 12h --durability power
            broker --bus nats://127.0.0.1:4222 --replicas 3

            SEGUE_BUS_CURVE names the broker's key file, which 'segue keys init' makes. The broker then accepts the \
            keys in this folder, and encrypts all connections.

            On NATS, the servers deliver and record the messages. The broker then keeps the retained documents and the \
            leases, and removes old messages. Several can run; one of them leads.
            """)

    @OptionGroup var options: ServiceOptions
    @OptionGroup var journal: JournalOptions

    @Option(
        help: "The age at which messages that all consumers have handled are removed: 12h or none. (default: 7d)")
    var retainAge: AgeLimit?

    @Option(
        help: "The size above which the oldest messages are removed, handled or not: 512MiB or none. (default: 1GiB)")
    var retainSize: RetainedSize?

    package init() {}

    package func run() async throws {
        let process = ServiceProcess("broker", sends: [ApplicationError.self])
        try await process.runAlone(options.contract) { configuration, logger in
            let address = try options.busAddress(configuration)
            guard NATSAddress.isScheme(of: address) else {
                var settings = try journal.brokerConfiguration(
                    address: address, retention: retention, configuration: configuration, process: process)
                settings.keys = configuration.value(KeyFilePlace.variable).map(KeyFolder.init(of:))
                settings.isInsecure = options.insecure
                Broker.prepareProcess()
                return [BrokerService(broker: Broker(settings, logger: logger))]
            }
            #if NATS
            let service = try StewardService(
                NATSAddress(address), options: journal, retention: retention, configuration: configuration,
                process: process, logger: logger)
            return [service]
            #else
            throw BusError.withoutNATS
            #endif
        }
    }

    private var retention: RetentionLimits {
        var retention = RetentionLimits.standard
        if let retainAge { retention.age = retainAge.duration }
        if let retainSize { retention.size = retainSize.bytes }
        return retention
    }
}

extension RetainedSize: ExpressibleByArgument {}
