import ArgumentParser
import BusSoak

struct Consume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Commits one result for each value.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The durable name.")
    var group: String

    func run() async throws {
        let group = group
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, logger in
                try await ConsumerRole.run(group: group, on: bus, history: history, logger: logger)
            })
    }
}
