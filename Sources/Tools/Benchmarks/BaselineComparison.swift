internal import Glibc

/// Two sides, measured in turns: a machine's speed can drift two-fold between minutes, so only figures that were taken beside
/// each other compare.
struct BaselineComparison<Sample: Sendable>: Sendable {
    private(set) var values: [Sample] = []
    private(set) var baselines: [Sample] = []

    /// - Parameters:
    ///   - warmUp: the count of a round before all others that is thrown away; nil for none.
    ///   - count: given to each measurement.
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

/// What came of what was published.
struct Delivery: Sendable {
    /// Deliveries a second, between the first and the last.
    let rate: Double
    let delivered: Int
    let lost: Int
    let misordered: Int

    init(_ report: Report, expected: Int) {
        // A single delivery takes no time; it would be infinitely fast.
        rate = Double(report.count) / max(report.seconds, 1e-9)
        delivered = report.count
        lost = expected - report.count
        misordered = report.misordered
    }
}

extension BaselineComparison<Delivery> {
    /// What the rounds together lost, for the settings.
    var losses: [String: SettingValue] {
        [
            "baselineLost": .count(baselines.map(\.lost).reduce(0, +)), "lost": .count(lost),
            "misordered": .count(misordered),
        ]
    }

    /// Why this is no result, if it is none: the bus promises that nothing is lost.
    var failure: String? {
        lost == 0 && misordered == 0 ? nil : "\(lost) messages were lost and \(misordered) came out of order"
    }

    private var lost: Int { values.map(\.lost).reduce(0, +) }
    private var misordered: Int { values.map(\.misordered).reduce(0, +) }
}

/// What one number tells of many. None of them may be empty.
enum Statistics {
    /// The middle one, or the mean of the two in the middle.
    static func median(of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The least sample that `percent` of all do not exceed (the nearest rank).
    /// - Parameter percent: above 0, at most 100.
    static func percentile(_ percent: Double, of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}

/// Nanoseconds of a clock that all processes of this machine share and nobody sets.
enum MonotonicTime {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
