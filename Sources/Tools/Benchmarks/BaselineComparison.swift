internal import Glibc

/// Measurements of a value and of its baseline, taken in turns.
struct BaselineComparison<Sample: Sendable>: Sendable {
    private(set) var values: [Sample] = []
    private(set) var baselines: [Sample] = []

    /// - Parameters:
    ///   - count: The number of messages in a round.
    ///   - warmUp: The number of messages in a first round. Its results are discarded. Nil for no such round.
    init(
        rounds: Int, count: Int, warmUp: Int?, baseline: (_ count: Int) async throws -> Sample,
        value: (_ count: Int) async throws -> Sample
    ) async throws {
        if let warmUp {
            _ = try await baseline(warmUp)
            _ = try await value(warmUp)
        }
        for _ in 0..<rounds {
            try Task.checkCancellation()
            baselines.append(try await baseline(count))
            values.append(try await value(count))
        }
    }

    private init(values: [Sample], baselines: [Sample]) {
        self.values = values
        self.baselines = baselines
    }

    func map<Part>(_ part: (Sample) -> Part) -> BaselineComparison<Part> {
        BaselineComparison<Part>(values: values.map(part), baselines: baselines.map(part))
    }
}

/// The deliveries of one round.
struct Delivery: Sendable {
    /// The number of deliveries per second, from the beginning to the end of the measurement.
    let rate: Double
    let delivered: Int
    let lost: Int
    /// See ``Report/misordered``.
    let misordered: Int

    init(_ report: Report, expected: Int) {
        // A single delivery has no duration, so its rate would be infinite.
        rate = Double(report.count) / max(report.seconds, 1e-9)
        delivered = report.count
        lost = expected - report.count
        misordered = report.misordered
    }
}

extension BaselineComparison<Delivery> {
    /// The numbers of lost and of misordered messages in all rounds, for the settings of the result.
    var losses: [String: SettingValue] {
        [
            "baselineLost": .count(baselines.map(\.lost).reduce(0, +)), "lost": .count(lost),
            "misordered": .count(misordered),
        ]
    }

    /// The reason why the measurement has failed: the bus lost or misordered messages. Nil if it has not failed.
    var failure: String? {
        lost == 0 && misordered == 0 ? nil : "\(lost) messages were lost and \(misordered) came out of order"
    }

    private var lost: Int { values.map(\.lost).reduce(0, +) }
    private var misordered: Int { values.map(\.misordered).reduce(0, +) }
}

/// Functions of samples. There must be at least one sample.
enum Statistics {
    /// The middle sample, or the mean of the two middle samples.
    static func median(of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest sample that at least `percent` of the samples do not exceed, by the nearest-rank method.
    /// - Parameter percent: Greater than 0, at most 100.
    static func percentile(_ percent: Double, of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}

/// A clock in nanoseconds that all processes of this machine share, and that cannot be set.
enum MonotonicTime {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
