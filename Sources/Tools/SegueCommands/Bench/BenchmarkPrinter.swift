internal import Benchmarks
internal import Foundation
internal import Navigation

/// How results are written: each as soon as it is there, so the columns have fixed widths.
struct BenchmarkPrinter {
    let json: Bool

    func begin() async throws {
        if !json { try await Console.output.writeLine(row("NAME", "VALUE", "UNIT", "BASELINE", "RATIO", "AGAINST")) }
    }

    func show(_ result: BenchmarkResult) async throws {
        guard !json else { return try await Console.output.writeLine(JSONValue(encoding: result).description) }
        try await Console.output.writeLine(
            row(
                result.name, number(result.value), result.unit, number(result.baselineValue),
                String(format: "%.2f", result.ratio), result.baseline))
    }

    private func row(
        _ name: String, _ value: String, _ unit: String, _ baseline: String, _ ratio: String, _ against: String
    ) -> String {
        let numbers = [value, baseline, ratio].map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }
        return "\(name.padding(to: 18)) \(numbers[0]) \(unit.padding(to: 12)) \(numbers[1]) \(numbers[2])  \(against)"
    }

    private func number(_ value: Double) -> String {
        String(format: value < 1000 ? "%.1f" : "%.0f", value)
    }
}
