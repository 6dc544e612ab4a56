import ArgumentParser
import BusSoak

@main
struct BusSoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bus-soak",
        abstract: "Kills and stops the processes of a bus under load, and looks for what it lost.")

    @Option(help: "How long, in seconds.")
    var seconds = 60

    @Option(help: "What decides who is hit when; printed, so that a failure can be had again.")
    var seed: UInt64?

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 0..<1_000_000)
        let sum = try await Soak(seed: seed, duration: .seconds(seconds)).run { print($0) }
        if !sum.findings.isEmpty { throw ExitCode.failure }
    }
}
