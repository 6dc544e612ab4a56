internal import Foundation

/// What can be measured. Each is compared with the least that its work costs without this bus.
enum Benchmark: String, CaseIterable, Sendable {
    case roundTrip = "roundtrip"
    case publishJournalled = "publish.journalled"
    case publishPlain = "publish.plain"
    case catchUp = "catchup"
    case fanOut = "fanout"
    case coordinator
    case monitor
    case start

    /// Messages of one round, unless said.
    var messages: Int {
        switch self {
        case .roundTrip: 3000
        case .publishJournalled, .publishPlain: 100_000
        case .catchUp, .monitor: 200_000
        case .fanOut: 2000
        case .coordinator: 20_000
        case .start: 10_000_000
        }
    }

    /// Measures. All processes and files that it needs are its own, and gone when this returns or throws.
    /// - Throws: ``BenchmarkError``; `CancellationError`.
    func run(_ options: BenchmarkOptions) async throws -> [BenchmarkResult] {
        let run = BenchmarkRun(benchmark: self, options: options)
        return try await Scratch.with { scratch in
            switch self {
            case .roundTrip: try await RoundTrip(run: run, scratch: scratch).measure()
            case .publishJournalled: try await PublishJournalled(run: run, scratch: scratch).measure()
            case .publishPlain: try await PublishPlain(run: run, scratch: scratch).measure()
            case .catchUp: try await CatchUp(run: run, scratch: scratch).measure()
            case .fanOut: try await FanOut(run: run, scratch: scratch).measure()
            case .coordinator: try await CoordinatorBacklog(run: run, scratch: scratch).measure()
            case .monitor: try await MonitorToFile(run: run, scratch: scratch).measure()
            case .start: try await Start(run: run, scratch: scratch).measure()
            }
        }
    }
}

/// What whoever measures can choose.
struct BenchmarkOptions: Sendable {
    /// How many messages a round can have at most.
    static let messagesLimit = Payload.messagesLimit

    /// How often both sides are measured, in turns; the median counts.
    var rounds: Int
    /// Messages of one round; nil for each benchmark's own number.
    var messages: Int?
    /// What a journalled message survives, on both sides.
    var durability: BenchmarkDurability
}

/// What a journalled message survives: the broker's setting, and the same for SQLite alone.
enum BenchmarkDurability: String, CaseIterable, Sendable {
    /// A kill -9 of anything.
    case process
    /// Also a loss of power: every commit waits for the disk.
    case power

    /// The value of SQLite's `PRAGMA synchronous`.
    var synchronous: String { self == .power ? "FULL" : "NORMAL" }
}

/// One benchmark with what was chosen for it.
struct BenchmarkRun: Sendable {
    let benchmark: Benchmark
    let options: BenchmarkOptions

    var messages: Int { options.messages ?? benchmark.messages }

    /// What was measured, and under which circumstances.
    /// - Parameters:
    ///   - part: distinguishes the results of one benchmark.
    ///   - processes: of the side whose value it is.
    func result(
        _ comparison: BaselineComparison<Double>, part: String? = nil, unit: String, baseline: String, processes: Int,
        settings: [String: SettingValue] = [:], failure: String? = nil
    ) -> BenchmarkResult {
        let common: [String: SettingValue] = [
            "configuration": .text(BuildConfiguration.name), "cores": .count(ProcessInfo.processInfo.processorCount),
            "dataBytes": .count(Payload.size), "durability": .text(options.durability.rawValue),
            "messages": .count(messages), "processes": .count(processes), "rounds": .count(options.rounds),
        ]
        return BenchmarkResult(
            name: [benchmark.rawValue, part].compactMap(\.self).joined(separator: "."),
            value: Statistics.median(of: comparison.values), unit: unit, baseline: baseline,
            baselineValue: Statistics.median(of: comparison.baselines),
            settings: common.merging(settings) { _, own in own }, failure: failure)
    }
}

/// A folder that only its owner may enter, for sockets and journals, gone afterwards.
struct Scratch: Sendable {
    let path: String

    /// In `/var/tmp`: `/tmp` may lie in memory, where a journal costs nothing; and a socket's path must be short.
    static func with<Result>(_ body: (Scratch) async throws -> Result) async throws -> Result {
        let path = "/var/tmp/segue-bench-\(UUID().uuidString.prefix(8).lowercased())"
        let scratch = Scratch(path: path)
        try scratch.make(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(scratch)
    }

    /// Makes a folder inside, and gives its path.
    func folder(_ name: String) throws -> String {
        try make("\(path)/\(name)")
        return "\(path)/\(name)"
    }

    private func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BenchmarkError("the folder \(path) cannot be made: \(error.localizedDescription)")
        }
    }
}

/// One figure, beside the one that it is compared with.
struct BenchmarkResult: Encodable, Sendable {
    let name: String
    let value: Double
    let unit: String
    /// What the value is compared with.
    let baseline: String
    /// In the same unit, from the same run.
    let baselineValue: Double
    /// `value` / `baselineValue`.
    let ratio: Double
    /// The circumstances that the value depends on.
    let settings: [String: SettingValue]
    /// What went wrong while it was measured, on one line: messages were lost, for example.
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

/// A circumstance of a measurement.
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

/// How this executable was built.
enum BuildConfiguration {
    #if DEBUG
    static let isDebug = true
    #else
    static let isDebug = false
    #endif

    static var name: String { isDebug ? "debug" : "release" }
}

/// Why something could not be measured.
package struct BenchmarkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line: what is wrong, and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
