import ArgumentParser
import BusSoak

@main
struct BusSoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bus-soak",
        abstract: "Kills and stops the processes of a bus and its coordinators under load, and checks their promises.")

    @Option(help: "The engine of the bus: zeromq for a broker, nats for three servers and two stewards.")
    var engine = Engine.zeroMQ

    @Option(help: "The duration in seconds.")
    var seconds = 60

    @Option(help: "The seed of the faults. It is printed, so that a failure can be repeated. (default: random)")
    var seed: UInt64?

    @Option(
        help: "The rounds: short, as in the tests, long, or damage, in which disks are damaged.")
    var shape = NemesisPlan.Shape.long

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 0..<1_000_000)
        let soak = Soak(engine: engine, seed: seed, shape: shape, duration: .seconds(seconds))
        let sum = try await soak.run { print($0) }
        if !sum.findings.isEmpty { throw ExitCode.failure }
    }
}

extension NemesisPlan.Shape: ExpressibleByArgument {
    public init?(argument: String) {
        guard let shape = Self.all.first(where: { $0.name == argument }) else { return nil }
        self = shape
    }

    public var defaultValueDescription: String { name }
}

extension Engine: ExpressibleByArgument {}
