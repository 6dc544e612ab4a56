import Testing

@testable import Benchmarks

@Suite("Statistics")
struct StatisticsTests {
    @Test(
        "The median is the middle value, or the mean of the two middle ones",
        arguments: [([3], 3), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5), ([1, 1, 100], 1)] as [([Double], Double)])
    func median(samples: [Double], median: Double) {
        #expect(Statistics.median(of: samples) == median)
    }

    @Test(
        "A percentile is found by the nearest rank",
        arguments: [(50, 50), (99, 99), (99.5, 100), (100, 100), (0.1, 1)] as [(Double, Double)])
    func percentile(percent: Double, sample: Double) {
        #expect(Statistics.percentile(percent, of: (1...100).map(Double.init).shuffled()) == sample)
    }

    @Test("Both sides are measured in turns, after a round that does not count")
    func turns() async throws {
        var calls: [String] = []
        let comparison = try await BaselineComparison(rounds: 2, count: 10, warmUp: 1) { count in
            calls.append("baseline \(count)")
            return Double(count)
        } value: { count in
            calls.append("value \(count)")
            return Double(2 * count)
        }
        #expect(calls == ["baseline 1", "value 1", "baseline 10", "value 10", "baseline 10", "value 10"])
        #expect(comparison.baselines == [10, 10] && comparison.values == [20, 20])
    }

    @Test("Lost and misordered messages count as a failure")
    func losses() async throws {
        let reports = [Report(begin: 0, end: 1_000_000_000, count: 97, misordered: 2)]
        let comparison = try await BaselineComparison(rounds: 1, count: 100, warmUp: nil) { _ in
            Delivery(Report(begin: 0, end: 1_000_000_000, count: 100), expected: 100)
        } value: { count in
            Delivery(Report(merging: reports), expected: count)
        }
        #expect(comparison.values.map(\.rate) == [97])
        #expect(comparison.losses == ["lost": .count(3), "misordered": .count(2), "baselineLost": .count(0)])
        #expect(comparison.failure == "3 messages were lost and 2 came out of order")
    }
}
