package import ArgumentParser
internal import EventBus
internal import Foundation
internal import NATSLayout

/// Runs benchmarks for `segue bench`, and prints each result as soon as it is known.
package struct MeasureCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Measures the bus and, for each figure, a baseline.",
        discussion: """
            docs/performance.md describes the benchmarks.
            """)

    @Argument(help: "The benchmarks to run: \(Self.names). (default: all)")
    var names: [String] = []

    @Option(help: "The number of rounds. A round measures the value and its baseline; the result is the median.")
    var rounds = 5

    @Option(help: "The number of messages in a round. (default: depends on the benchmark)")
    var messages: Int?

    @OptionGroup var bus: MeasuredBusOptions

    @Flag(
        help: ArgumentHelp(
            "Measure each benchmark also on a bus with keys, whose connections are encrypted, as NAME.keys. For "
                + Self.keyedNames + "."))
    var keys = false

    @Flag(
        help: "Measure each benchmark also while a process computes without pause on one of the cores, as NAME.busy.")
    var busy = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    package init() {}

    package func validate() throws {
        let hasUnkeyed = names.isEmpty || names.contains { !Self.keyed.map(\.rawValue).contains($0) }
        guard !keys || !hasUnkeyed && !bus.kind.isNATS else {
            throw ValidationError("--keys is for \(Self.keyedNames), on ipc; name some of them")
        }
        if let unknown = names.first(where: { Benchmark(rawValue: $0) == nil }) {
            throw ValidationError("there is no benchmark '\(unknown)'; choose from \(Self.names)")
        }
        guard rounds > 0 else { throw ValidationError("--rounds is \(rounds); it must be at least 1") }
        guard 1...BenchmarkOptions.messagesLimit ~= messages ?? 1 else {
            throw ValidationError("--messages is \(messages ?? 0); it must be 1 to \(BenchmarkOptions.messagesLimit)")
        }
    }

    /// - Throws: ``BenchmarkError``, and `ExitCode` with 128 plus the signal's number if a signal ended the benchmarks.
    package func run() async throws {
        try await BenchmarkOutput.whileRunning { try await measure() }
    }

    /// The options of each measurement of a benchmark.
    private var variants: [BenchmarkOptions] {
        (keys ? [bus.kind, .broker(hasKeys: true)] : [bus.kind]).flatMap { kind in
            (busy ? [false, true] : [false]).map { isBusy in
                BenchmarkOptions(
                    rounds: rounds, messages: messages, durability: bus.durability, bus: kind, isBusy: isBusy)
            }
        }
    }

    private func measure() async throws {
        let benchmarks = names.isEmpty ? Benchmark.allCases : names.compactMap(Benchmark.init)
        if !json {
            try await BenchmarkOutput.write(
                Self.row(
                    name: "NAME", value: "VALUE", unit: "UNIT", baseline: "BASELINE", ratio: "RATIO", against: "AGAINST"
                ))
        }
        var failures: [String] = []
        for benchmark in benchmarks {
            for options in variants {
                for result in try await benchmark.run(options) {
                    // A result is printed before the other results are known, so the columns have fixed widths.
                    try await BenchmarkOutput.write(json ? BenchmarkOutput.line(result) : Self.row(result))
                    failures += result.failure.map { ["\(result.name): \($0)"] } ?? []
                }
            }
        }
        guard failures.isEmpty else { throw BenchmarkError(failures.joined(separator: "; ")) }
    }

    /// The benchmarks of the bus itself.
    private static let keyed: [Benchmark] = [.roundTrip, .publishJournalled, .publishPlain, .catchUp, .fanOut]
    private static let keyedNames = keyed.map(\.rawValue).joined(separator: ", ")

    package static let names = Benchmark.allCases.map(\.rawValue).joined(separator: ", ")

    private static func row(_ result: BenchmarkResult) -> String {
        row(
            name: result.name, value: number(result.value), unit: result.unit, baseline: number(result.baselineValue),
            ratio: String(format: "%.2f", result.ratio), against: result.baseline)
    }

    private static func row(
        name: String, value: String, unit: String, baseline: String, ratio: String, against: String
    ) -> String {
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let numbers = [value, baseline, ratio].map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }
        return "\(left(name, 23)) \(numbers[0]) \(left(unit, 12)) \(numbers[1]) \(numbers[2])  \(against)\n"
    }

    private static func number(_ value: Double) -> String {
        String(format: value < 1000 ? "%.1f" : "%.0f", value)
    }
}

/// Runs as a process of a benchmark, and receives orders on standard input.
package struct PeerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Runs a process of a benchmark.", shouldDisplay: false)

    @Argument(help: "The role of the process.")
    var role: PeerRole

    @Argument(help: "The address of the bus. In a baseline: the folder of the sockets, or the database file.")
    var address: String

    @Option(help: "The number of subscribers in the process.")
    var connections = 1

    @Option(help: "The failures that a row in SQLite survives.")
    var durability = BenchmarkDurability.process

    package init() {}

    package func run() async throws {
        try await Peer(role: role, address: address, connections: connections, durability: durability).run()
    }
}

/// The bus that a command measures.
struct MeasuredBusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bus to measure: ipc starts a broker, nats a server of NATS. The address of servers that are running, "
                + "such as nats://HOST:4222, adds streams to them and removes these at the end. (default: ipc)",
            valueName: "bus"))
    private var bus = "ipc"

    @Option(help: "The number of servers of NATS that store each message: 1, 3 or 5. (default: 1)")
    private var servers: Int?

    @Option(help: "The failures that a journalled message survives: kill -9 of a process, or also a loss of power.")
    var durability = BenchmarkDurability.process

    var kind: MeasuredBus {
        switch bus {
        case "ipc": .broker()
        case "nats": .nats(servers: servers ?? 1)
        default: (try? NATSAddress(bus)).map { .running($0, replicas: servers ?? 1) } ?? .broker()
        }
    }

    func validate() throws {
        guard bus != "ipc" || servers == nil else {
            throw ValidationError("--servers is for NATS; add --bus nats")
        }
        guard [1, 3, 5].contains(servers ?? 1) else {
            throw ValidationError("--servers is \(servers ?? 0); it must be 1, 3 or 5")
        }
        guard bus != "ipc", bus != "nats" else { return }
        guard NATSAddress.isScheme(of: bus) else {
            throw ValidationError("--bus is '\(bus)'; it must be ipc, nats or an address such as nats://HOST:4222")
        }
        let address: NATSAddress
        do {
            address = try NATSAddress(bus)
        } catch {
            throw ValidationError(error.message)
        }
        guard !address.isEncrypted, address.namespace == NATSAddress.defaultNamespace else {
            throw ValidationError("--bus must be nats:// without a name after the hosts: the baseline does not use TLS")
        }
        guard durability == .process else {
            throw ValidationError("--durability is not for running servers; set sync_interval in their configuration")
        }
    }
}

extension BenchmarkDurability: ExpressibleByArgument {}
extension PeerRole: ExpressibleByArgument {}
