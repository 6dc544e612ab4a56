import ArgumentParser
import Broker
import Contracts
import Foundation
import ServiceRuntime
import Support

@main
struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Delivers messages to subscribers, and records all but transient ones.",
        discussion: """
            broker --bus ipc:///tmp/bus --journal /tmp/journal.sqlite
            broker --bus tcp://127.0.0.1:5570 --journal /tmp/journal.sqlite --retain-age 12h --durability power
            """)

    @OptionGroup var options: ServiceOptions

    @Option(help: "The path of the journal. (default: broker/journal.sqlite in SEGUE_STATE_DIR)")
    var journal: String?

    @Option(
        help: "The failures that an acknowledged message survives: the kill of any process, or also a loss of power.")
    var durability = Durability.process

    @Option(help: "The age at which messages that all consumers have handled are removed: 12h or none. (default: 7d)")
    var retainAge: AgeLimit?

    @Option(
        help: "The size above which the oldest messages are removed, handled or not: 512MiB or none. (default: 1GiB)")
    var retainSize: RetainedSize?

    func run() async throws {
        let process = ServiceProcess("broker", sends: [ApplicationError.self])
        try await process.runAlone(options.contract) { configuration, logger in
            let journal = try journal ?? journalInStateDirectory(configuration)
            let configuration = BrokerConfiguration(
                address: try options.busAddress(configuration), journal: journal, durability: durability,
                retention: retention,
                describe: { $0.envelope(source: process.source) })
            return [BrokerService(broker: Broker(configuration, logger: logger))]
        }
    }

    private var retention: RetentionPolicy {
        var retention = RetentionPolicy.standard
        if let retainAge { retention.age = retainAge.duration }
        if let retainSize { retention.size = retainSize.bytes }
        return retention
    }

    private func journalInStateDirectory(_ configuration: ServiceConfiguration) throws -> String {
        try configuration.stateDirectory(for: "broker").appendingPathComponent("journal.sqlite").path
    }
}

extension Durability: ExpressibleByArgument {}
extension AgeLimit: ExpressibleByArgument {}
extension RetainedSize: ExpressibleByArgument {}
