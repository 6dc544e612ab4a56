internal import BusChecker

/// What a round did and found.
package struct SoakReport: Sendable {
    package let seed: UInt64
    let shape: NemesisPlan.Shape
    package var published = 0
    package var acknowledged = 0
    package var delivered = 0
    package var consumed = 0
    package var kills = 0
    package var stops = 0
    package var restarts = 0
    package var findings: [String] = []
    /// What every process had to say.
    package var logs = ""

    init(seed: UInt64, shape: NemesisPlan.Shape) {
        self.seed = seed
        self.shape = shape
    }

    /// One line.
    package var summary: String {
        "seed \(seed): published \(published), acknowledged \(acknowledged), delivered \(delivered), "
            + "consumed \(consumed), kills \(kills), stops \(stops), restarts \(restarts), findings \(findings.count)"
    }

    /// Adds what another round counted.
    package mutating func add(_ other: SoakReport) {
        published += other.published
        acknowledged += other.acknowledged
        delivered += other.delivered
        consumed += other.consumed
        kills += other.kills
        stops += other.stops
        restarts += other.restarts
        findings += other.findings
    }
}

extension SoakReport: CustomStringConvertible {
    package var description: String {
        guard !findings.isEmpty else { return summary }
        return """
            \(summary)
            \(findings.prefix(50).joined(separator: "\n"))
            Again: make soak SHAPE=\(shape.name) SEED=\(seed) SECONDS=1

            --- The processes ---
            \(logs)
            """
    }
}
