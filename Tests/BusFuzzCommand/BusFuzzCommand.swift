import BusFuzz
import Foundation
import TestSupport

/// `bus-fuzz [INPUTS] [SEED]` sends random requests to a broker. The same seed sends the same requests.
@main
struct BusFuzzCommand {
    /// The bytes by which memory may grow after the first tenth of the requests.
    private static let growth = 24 << 20

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
        let (inputs, seed) = (arguments.first ?? 1_000_000, UInt64(arguments.dropFirst().first ?? 1))
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        do {
            var fuzz = try BrokerFuzz(seed: seed, directory: scratch.path)
            try fuzz.run(inputs: inputs / 10)
            let before = residentMemory()
            try fuzz.run(inputs: inputs - inputs / 10)
            let after = residentMemory()
            let summary = fuzz.summary
            let refusals = summary.refusals.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            print(
                """
                seed \(seed): \(summary.inputs) requests, \(summary.answers) answers, \(summary.feed) messages, \
                journal to \(summary.head)
                refusals by code: \(refusals.joined(separator: ", "))
                memory: \(before >> 20) MiB after a tenth, \(after >> 20) MiB at the end
                """)
            guard after - before < growth else { throw FuzzMemory(before: before, after: after) }
        } catch {
            print("seed \(seed): \(error)")
            exit(1)
        }
    }
}

private struct FuzzMemory: Error, CustomStringConvertible {
    let before: Int
    let after: Int
    var description: String { "memory grew from \(before >> 20) to \(after >> 20) MiB" }
}
