internal import Foundation

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
        _ comparison: Comparison<Double>, part: String? = nil, unit: String, baseline: String, processes: Int,
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
