package import ArgumentParser
internal import Benchmarks

/// A process that 'segue bench' starts; it is told what to do on standard input.
package struct BenchPeerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench-peer", abstract: "Plays a part in a benchmark.", shouldDisplay: false)

    @Argument(help: "The part.")
    var role: PeerRole

    @Argument(help: "The bus, or the folder or the file that stands in its place.")
    var address: String

    @Option(help: "How many subscribers it is.")
    var connections = 1

    @Option(help: "What a row in SQLite survives.")
    var durability = Durability.process

    package init() {}

    package func run() async throws {
        try await Peer(role: role, address: address, connections: connections, durability: durability).run()
    }
}

extension PeerRole: ExpressibleByArgument {}
