internal import Foundation

/// The benchmarks. Each compares a measurement with a baseline.
enum Benchmark: String, CaseIterable, Sendable {
    case roundTrip = "roundtrip"
    case publishJournalled = "publish.journalled"
    case publishPlain = "publish.plain"
    case catchUp = "catchup"
    case fanOut = "fanout"
    case coordinator
    case monitor
    case release
    case start
    case navigation
    case envelope

    /// The default number of messages in a round.
    var messages: Int {
        switch self {
        case .roundTrip: 3000
        case .publishJournalled, .publishPlain: 100_000
        case .catchUp, .monitor, .release: 200_000
        case .fanOut: 2000
        case .coordinator: 20_000
        case .start: 10_000_000
        case .navigation, .envelope: 200_000
        }
    }

    /// Runs the benchmark with its own processes and files. The processes have ended and the files are removed when
    /// this method returns or throws.
    /// - Throws: ``BenchmarkError`` if the benchmark could not run, and the errors of its processes.
    func run(_ options: BenchmarkOptions) async throws -> [BenchmarkResult] {
        let run = BenchmarkRun(benchmark: self, options: options)
        return try await Scratch.with { scratch in
            let busy = options.isBusy ? [PeerProcess(.busyCore, scratch.path)] : []
            return try await PeerProcess.run(busy) {
                switch self {
                case .roundTrip: try await RoundTrip(run: run, scratch: scratch).measure()
                case .publishJournalled: try await PublishJournalled(run: run, scratch: scratch).measure()
                case .publishPlain: try await PublishPlain(run: run, scratch: scratch).measure()
                case .catchUp: try await CatchUp(run: run, scratch: scratch).measure()
                case .fanOut: try await FanOut(run: run, scratch: scratch).measure()
                case .coordinator: try await CoordinatorBacklog(run: run, scratch: scratch).measure()
                case .monitor: try await MonitorToFile(run: run, scratch: scratch).measure()
                case .release: try await ReleaseGate(run: run, scratch: scratch).measure()
                case .start: try await Start(run: run, scratch: scratch).measure()
                case .navigation: try await NavigationSteps(run: run).measure()
                case .envelope: try await EnvelopeCoding(run: run).measure()
                }
            }
        }
    }
}

/// The options of all benchmarks.
struct BenchmarkOptions: Sendable {
    /// The maximum number of messages in a round. A larger number in an option is an error.
    static let messagesLimit = Payload.messagesLimit

    /// The number of times that the value and the baseline are measured, in turns. The result is the median.
    var rounds: Int
    /// The number of messages in a round. Nil for the benchmark's default.
    var messages: Int?
    /// The durability of the journal and of SQLite in the baseline.
    var durability: BenchmarkDurability
    var bus: MeasuredBus
    /// True to measure while a process computes without pause on one of the cores.
    var isBusy = false
}

/// The failures that a journalled message survives. The setting applies to the broker or to the servers of NATS, and to
/// SQLite alone in a baseline.
enum BenchmarkDurability: String, CaseIterable, Sendable {
    /// A kill -9 of any process.
    case process
    /// A kill -9 and a loss of power: every commit waits for the disk.
    case power

    /// The value of SQLite's `PRAGMA synchronous`.
    var synchronous: String { self == .power ? "FULL" : "NORMAL" }
}

/// A benchmark with its options.
struct BenchmarkRun: Sendable {
    let benchmark: Benchmark
    let options: BenchmarkOptions

    var messages: Int { options.messages ?? benchmark.messages }

    /// The result of the measurements, with the settings that it depends on.
    /// - Parameters:
    ///   - part: The second part of the result's name. Nil if the benchmark has only one result.
    ///   - processes: The number of processes that do the measured work, without the processes of the baseline.
    func result(
        _ comparison: BaselineComparison<Double>, part: String? = nil, unit: String, baseline: String, processes: Int,
        settings: [String: SettingValue] = [:], failure: String? = nil
    ) -> BenchmarkResult {
        let common: [String: SettingValue] = [
            "configuration": .text(BuildConfiguration.name), "cores": .count(ProcessInfo.processInfo.processorCount),
            "dataBytes": .count(Payload.size), "durability": .text(options.durability.rawValue),
            "messages": .count(messages), "processes": .count(processes), "rounds": .count(options.rounds),
            "bus": .text(options.bus.scheme), "replicas": .count(options.bus.replicas),
        ]
        return BenchmarkResult(
            name: name(part), value: Statistics.median(of: comparison.values), unit: unit, baseline: baseline,
            baselineValue: Statistics.median(of: comparison.baselines),
            settings: common.merging(settings) { _, own in own }, failure: failure)
    }

    private func name(_ part: String?) -> String {
        [benchmark.rawValue, part, options.bus.hasKeys ? "keys" : nil, options.isBusy ? "busy" : nil]
            .compactMap(\.self).joined(separator: ".")
    }
}

/// A temporary folder for sockets and journals, accessible only to its owner.
struct Scratch: Sendable {
    let path: String

    /// Creates a folder in `/var/tmp`, and removes it when `body` has ended. The folder is not in `/tmp`, because
    /// `/tmp` may be in memory, where writing a journal costs little.
    static func with<Result>(_ body: (Scratch) async throws -> Result) async throws -> Result {
        let path = "/var/tmp/segue-bench-\(UUID().uuidString.prefix(8).lowercased())"
        let scratch = Scratch(path: path)
        try scratch.make(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(scratch)
    }

    /// Creates a folder in the temporary folder.
    /// - Returns: The path of the new folder.
    func folder(_ name: String) throws -> String {
        try make("\(path)/\(name)")
        return "\(path)/\(name)"
    }

    private func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BenchmarkError("cannot create the folder \(path): \(error.localizedDescription)")
        }
    }
}

/// A measured value with its baseline.
struct BenchmarkResult: Encodable, Sendable {
    let name: String
    let value: Double
    let unit: String
    /// The description of the baseline.
    let baseline: String
    /// The median of the baseline, in the unit of `value`, from the same run.
    let baselineValue: Double
    /// `value` / `baselineValue`.
    let ratio: Double
    /// The settings on which the value depends.
    let settings: [String: SettingValue]
    /// The reason why the benchmark has failed, on one line; for example, lost messages. Nil if the benchmark has not
    /// failed.
    let failure: String?

    init(
        name: String, value: Double, unit: String, baseline: String, baselineValue: Double,
        settings: [String: SettingValue], failure: String? = nil
    ) {
        self.name = name
        self.value = value
        self.unit = unit
        self.baseline = baseline
        self.baselineValue = baselineValue
        ratio = value / baselineValue
        self.settings = settings
        self.failure = failure
    }

    private enum CodingKeys: String, CodingKey {
        case name, value, unit, baseline, baselineValue, ratio, settings
    }
}

/// The value of a setting in a result.
enum SettingValue: Encodable, Hashable, Sendable {
    case count(Int)
    case text(String)

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .count(let count): try container.encode(count)
        case .text(let text): try container.encode(text)
        }
    }
}

/// The build configuration of this executable.
enum BuildConfiguration {
    #if DEBUG
    static let isDebug = true
    #else
    static let isDebug = false
    #endif

    static var name: String { isDebug ? "debug" : "release" }
}

/// The error of a benchmark that could not run or that failed.
package struct BenchmarkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, on one line.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
