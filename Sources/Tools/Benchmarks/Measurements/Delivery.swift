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

extension Comparison<Delivery> {
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
