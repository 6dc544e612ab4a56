import ArgumentParser
import Broker
import Contracts
import Foundation
import ServiceRuntime

@main
struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Journals what is published and hands it on.")

    @OptionGroup var options: ServiceOptions

    @Option(help: "The journal's file. Without it, broker/journal.sqlite in SEGUE_STATE_DIR.")
    var journal: String?

    @Option(help: "What an acknowledged message survives: a kill -9 of any process, or also a loss of power.")
    var durability = Durability.process

    @Option(
        help: "How long messages are kept that every consumer has handled: 90s, 12h, 7d; none for ever. 7d unless said."
    )
    var retainAge: RetainedAge?

    @Option(
        help: "How large the journal gets before the oldest messages go, handled or not: 512MiB, 1GiB; none for no end."
    )
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
extension RetainedAge: ExpressibleByArgument {}
extension RetainedSize: ExpressibleByArgument {}
