internal import Foundation

/// What came of one type.
struct TypeStatistics: Sendable {
    var count = 0
    /// Of the data.
    var bytes = 0
    /// How many were dropped by the feed, and came from the journal.
    var recovered = 0
    /// Those up to this offset were removed before they were read.
    var removedThrough: UInt64?
    var latency = LatencyHistogram()
    /// What there was at the last report.
    private var reported = (count: 0, bytes: 0)

    mutating func note(size: Int, latency: Duration?) {
        count += 1
        bytes += size
        if let latency { self.latency.record(latency) }
    }

    /// - Parameter seconds: since the last report.
    mutating func report(_ type: String, seconds: Double) -> StatisticsReport.OfType {
        defer { reported = (count, bytes) }
        return report(type, count - reported.count, bytes - reported.bytes, seconds)
    }

    /// - Parameter seconds: since the beginning.
    func summary(_ type: String, seconds: Double) -> StatisticsReport.OfType {
        report(type, count, bytes, seconds)
    }

    private func report(_ type: String, _ news: Int, _ newBytes: Int, _ seconds: Double) -> StatisticsReport.OfType {
        let rate = { (number: Int) in seconds > 0 ? (Double(number) / seconds * 10).rounded() / 10 : 0 }
        let milliseconds = { (percent: Double) in
            latency.percentile(percent).map { ($0 / .milliseconds(1) * 1000).rounded() / 1000 }
        }
        return StatisticsReport.OfType(
            type: type, count: count, rate: rate(news), bytesPerSecond: rate(newBytes), p50: milliseconds(50),
            p99: milliseconds(99), recovered: recovered, removedThrough: removedThrough)
    }
}
