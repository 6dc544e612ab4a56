import Foundation
import MachineComparison

/// `machine-fuzz [STEPS] [SEED]` compares the machine with its earlier version on random flows and messages. The same
/// seed gives the same messages.
@main
struct MachineFuzzCommand {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
        let (steps, seed) = (arguments.first ?? 10_000_000, UInt64(arguments.dropFirst().first ?? 1))
        var comparison = MachineComparison(seed: seed << 32)
        do {
            try comparison.run(steps: steps)
        } catch {
            print("seed \(seed): \(error)")
            exit(1)
        }
        let summary = comparison.summary
        let effects = summary.effects.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        print(
            """
            seed \(seed): \(summary.steps) messages in \(summary.sessions) sessions on \(summary.flows) flows, \(summary.changes) changes of a state, \
            \(summary.restorations) restorations
            effects: \(effects.joined(separator: ", "))
            """)
    }
}
