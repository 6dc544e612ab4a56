import ArgumentParser
import BusAttack

@main
struct BusAttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bus-attack",
        abstract: "Measures how long the others wait for the broker while a program with a valid key attacks it.")

    @Option(help: "The attack; may be repeated. (default: all)")
    var attack: [Attack] = []

    @Option(help: "The duration of each measurement in seconds.")
    var seconds = 5

    @Option(help: "The number of measurements of each attack; the median counts.")
    var runs = 5

    @Flag(help: .hidden)
    var compute = false

    @Option(help: .hidden)
    var target: String?

    @Option(help: .hidden)
    var key: String?

    func run() async throws {
        if compute { AttackMeasurement.compute() }
        if let target, let key {
            return try await AttackMeasurement.attack(attack.first ?? .batches, on: target, with: key)
        }
        for attack in attack.isEmpty ? Attack.allCases : attack {
            print(try await AttackMeasurement(attack, duration: .seconds(seconds), runs: runs).line())
        }
    }
}

extension Attack: ExpressibleByArgument {}
