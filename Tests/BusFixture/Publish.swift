import ArgumentParser
import BusSoak

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Publishes unique values.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "How many publish at the same time.")
    var lanes = 8

    @Option(help: "Values that go out in one batch.")
    var batch = 4

    @Option(help: "Values of each lane; without it, until SIGTERM.")
    var count: Int?

    @Option(help: "Bytes that each message carries beside its value.")
    var padding = 0

    func run() async throws {
        var role = PublisherRole(name: options.name)
        (role.lanes, role.batch, role.count, role.padding) = (lanes, batch, count, padding)
        let publisher = role
        throw ExitCode(
            try await options.process().run { bus, history, logger in
                try await publisher.run(on: bus, history: history, logger: logger)
            })
    }
}
