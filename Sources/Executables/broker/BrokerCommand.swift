import ArgumentParser
import Broker
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

    func run() async throws {
        try await ServiceProcess("broker").runAlone { configuration, logger in
            let journal = try journal ?? journalInStateDirectory(configuration)
            let configuration = BrokerConfiguration(
                address: try options.busAddress(configuration), journal: journal, durability: durability)
            return [BrokerService(broker: Broker(configuration, logger: logger))]
        }
    }

    private func journalInStateDirectory(_ configuration: ServiceConfiguration) throws -> String {
        try configuration.stateDirectory(for: "broker").appendingPathComponent("journal.sqlite").path
    }
}

extension Durability: ExpressibleByArgument {}
