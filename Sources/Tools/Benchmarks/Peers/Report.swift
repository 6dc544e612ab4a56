/// What a peer has to say: one JSON object a line. The first, without content, says that it is ready.
struct Report: Codable, Sendable {
    /// When the first message came or the work began, in nanoseconds of ``MonotonicTime``.
    var begin: Int64 = 0
    /// When the last message came or the work was done.
    var end: Int64 = 0
    /// Messages that came or were moved.
    var count = 0
    /// Messages that came behind a later one.
    var misordered = 0
    /// Latencies in microseconds.
    var median = 0.0
    var percentile99 = 0.0

    var seconds: Double { Double(end - begin) / 1e9 }
}

extension Report {
    /// - Parameter latencies: in nanoseconds.
    init(latencies: [Int64]) {
        let microseconds = latencies.map { Double($0) / 1000 }
        count = latencies.count
        median = Statistics.median(of: microseconds)
        percentile99 = Statistics.percentile(99, of: microseconds)
    }

    /// What several subscribers of one publisher report together.
    init(merging reports: [Report]) {
        let received = reports.filter { $0.count > 0 }
        begin = received.map(\.begin).min() ?? 0
        end = received.map(\.end).max() ?? 0
        count = reports.map(\.count).reduce(0, +)
        misordered = reports.map(\.misordered).reduce(0, +)
    }
}
