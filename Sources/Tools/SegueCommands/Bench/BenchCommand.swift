package import ArgumentParser
internal import Benchmarks
internal import Compose
internal import Glibc

package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures the bus beside what its work costs without it.",
        discussion: """
            segue bench                           everything
            segue bench roundtrip catchup --json  some of it, one JSON object a line

            docs/performance.md says what each of them measures.
            """)

    @Argument(help: "\(Self.names); all of them unless said.")
    var names: [String] = []

    @Option(help: "How often both sides are measured, in turns; the median counts.")
    var rounds = 5

    @Option(help: "Messages of one round; each benchmark has its own number unless said.")
    var messages: Int?

    @Option(help: "What a journalled message survives: a kill -9 of any process, or also a loss of power.")
    var durability = Durability.process

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

    package func run() async throws {
        if BuildConfiguration.isDebug {
            await Console.error.tell("this is a debug build, whose figures mean nothing; use 'make bench'")
        }
        let options = BenchmarkOptions(rounds: rounds, messages: messages, durability: durability)
        let benchmarks = names.isEmpty ? Benchmark.allCases : names.compactMap(Benchmark.init)
        let printer = BenchmarkPrinter(json: json)
        try await Interruption.ending {
            try await printer.begin()
            var failures: [String] = []
            for benchmark in benchmarks {
                for result in try await benchmark.run(options) {
                    try await printer.show(result)
                    failures += result.failure.map { ["\(result.name): \($0)"] } ?? []
                }
            }
            guard failures.isEmpty else { throw CommandError(code: "bench", failures.joined(separator: "; ")) }
        }
    }

    private static let names = Benchmark.allCases.map(\.rawValue).joined(separator: ", ")
}

extension Durability: ExpressibleByArgument {}
