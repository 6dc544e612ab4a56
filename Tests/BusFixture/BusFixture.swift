import ArgumentParser

/// A process that takes part in the bus's fault tests and is killed without notice.
@main
struct BusFixture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bus-fixture", subcommands: [Publish.self, Subscribe.self, Consume.self, Lease.self, Stall.self])
}
