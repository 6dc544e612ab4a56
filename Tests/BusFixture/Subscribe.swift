import ArgumentParser
import BusSoak

struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Writes down all values, from the first one.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, _ in
                try await SubscriberRole.run(on: bus, history: history)
            })
    }
}
