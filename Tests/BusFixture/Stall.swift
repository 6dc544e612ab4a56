import ArgumentParser
import BusSoak

struct Stall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Subscribes, and reads nothing until it may.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The events to read after that.")
    var count: Int

    @Option(help: "The named pipe that somebody opens when it may go on.")
    var pipe: String

    func run() async throws {
        let (count, pipe) = (count, pipe)
        throw ExitCode(
            try await options.process().runUntilStopped { bus, _, logger in
                try await StalledRole.run(count: count, pipe: pipe, on: bus, logger: logger)
            })
    }
}
