import ArgumentParser
import BusSoak
import EventBus

struct Consume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Commits one result for each value.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The durable name.")
    var group: String

    @Flag(help: "Shares the group with all others that do.")
    var shared = false

    func run() async throws {
        let (group, mode) = (group, shared ? ConsumerMember.Mode.shared : .exclusive)
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, logger in
                try await ConsumerRole.run(group: group, mode: mode, on: bus, history: history, logger: logger)
            })
    }
}
