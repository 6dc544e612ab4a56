/// Rounds, one after the other, each with the next seed, for as long as told or until one of them finds something.
package struct Soak: Sendable {
    let seed: UInt64
    let shape: NemesisPlan.Shape
    let duration: Duration

    package init(seed: UInt64, shape: NemesisPlan.Shape, duration: Duration) {
        self.seed = seed
        self.shape = shape
        self.duration = duration
    }

    /// - Parameter say: given a line, or a failure of many lines, as soon as it is known.
    /// - Returns: the sum of all rounds.
    package func run(say: (String) -> Void) async throws -> SoakReport {
        let start = ContinuousClock.now
        var sum = SoakReport(seed: seed, shape: shape)
        var round = seed
        repeat {
            let report = try await SoakRound(seed: round, shape: shape).run()
            say("\(report)")
            sum.add(report)
            round &+= 1
        } while ContinuousClock.now - start < duration && sum.findings.isEmpty
        say("in all, from \(sum.summary)")
        return sum
    }
}
