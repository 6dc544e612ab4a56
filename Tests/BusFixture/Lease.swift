import ArgumentParser
import BusSoak

struct Lease: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Holds a leased document.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        let name = options.name
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, _ in
                try await LeaseRole.run(name: name, on: bus, history: history)
            })
    }
}
