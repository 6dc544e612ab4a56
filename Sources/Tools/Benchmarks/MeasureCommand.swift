package import ArgumentParser
internal import Dispatch
internal import Foundation
internal import SystemSupport

/// Measures, and prints each result as soon as it is there: the work of `segue bench`.
package struct MeasureCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Measures the bus beside what its work costs without it.",
        discussion: """
            docs/performance.md says what each benchmark measures.
            """)

    @Argument(help: "\(Self.names); all of them unless said.")
    var names: [String] = []

    @Option(help: "How often both sides are measured, in turns; the median counts.")
    var rounds = 5

    @Option(help: "Messages of one round; each benchmark has its own number unless said.")
    var messages: Int?

    @Option(help: "What a journalled message survives: a kill -9 of any process, or also a loss of power.")
    var durability = BenchmarkDurability.process

    @Flag(help: "One JSON object a line.")
    var json = false

    package init() {}

    package func validate() throws {
        if let unknown = names.first(where: { Benchmark(rawValue: $0) == nil }) {
            throw ValidationError("there is no benchmark '\(unknown)'; there are \(Self.names)")
        }
        guard rounds > 0 else { throw ValidationError("--rounds is \(rounds); it has to be 1 or more") }
        guard 1...BenchmarkOptions.messagesLimit ~= messages ?? 1 else {
            throw ValidationError("--messages is \(messages ?? 0); it has to be 1 to \(BenchmarkOptions.messagesLimit)")
        }
    }

    /// - Throws: ``BenchmarkError``; `ExitCode` as a shell gives it to what a signal ended.
    package func run() async throws {
        if BuildConfiguration.isDebug {
            try? await Self.write(
                "segue: this is a debug build, whose figures mean nothing; use 'make bench'\n", to: .standardError)
        }
        guard case .signal(let signal) = try await ShutdownSignals.run({ try await measure() }) else { return }
        throw ExitCode(128 + signal)
    }

    private func measure() async throws {
        let options = BenchmarkOptions(rounds: rounds, messages: messages, durability: durability)
        let benchmarks = names.isEmpty ? Benchmark.allCases : names.compactMap(Benchmark.init)
        if !json { try await Self.write(Self.row("NAME", "VALUE", "UNIT", "BASELINE", "RATIO", "AGAINST")) }
        var failures: [String] = []
        for benchmark in benchmarks {
            for result in try await benchmark.run(options) {
                // Each as soon as it is there, so the columns have fixed widths.
                try await Self.write(json ? Self.line(result) : Self.row(result))
                failures += result.failure.map { ["\(result.name): \($0)"] } ?? []
            }
        }
        guard failures.isEmpty else { throw BenchmarkError(failures.joined(separator: "; ")) }
    }

    private static let names = Benchmark.allCases.map(\.rawValue).joined(separator: ", ")

    private static func line(_ result: BenchmarkResult) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(result), as: UTF8.self) + "\n"
    }

    private static func row(_ result: BenchmarkResult) -> String {
        row(
            result.name, number(result.value), result.unit, number(result.baselineValue),
            String(format: "%.2f", result.ratio), result.baseline)
    }

    private static func row(
        _ name: String, _ value: String, _ unit: String, _ baseline: String, _ ratio: String, _ against: String
    ) -> String {
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let numbers = [value, baseline, ratio].map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }
        return "\(left(name, 18)) \(numbers[0]) \(left(unit, 12)) \(numbers[1]) \(numbers[2])  \(against)\n"
    }

    private static func number(_ value: Double) -> String {
        String(format: value < 1000 ? "%.1f" : "%.0f", value)
    }

    /// A terminal may be stopped, a pipe be full: that holds up no thread that tasks share.
    private static func write(_ text: String, to file: FileHandle = .standardOutput) async throws {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try file.write(contentsOf: Data(text.utf8)) })
            }
        }
    }
}

/// A process that a benchmark starts; it is told what to do on standard input.
package struct PeerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Plays a part in a benchmark.", shouldDisplay: false)

    @Argument(help: "The part.")
    var role: PeerRole

    @Argument(help: "The bus, or the folder or the file that stands in its place.")
    var address: String

    @Option(help: "How many subscribers it is.")
    var connections = 1

    @Option(help: "What a row in SQLite survives.")
    var durability = BenchmarkDurability.process

    package init() {}

    package func run() async throws {
        try await Peer(role: role, address: address, connections: connections, durability: durability).run()
    }
}

extension BenchmarkDurability: ExpressibleByArgument {}
extension PeerRole: ExpressibleByArgument {}
