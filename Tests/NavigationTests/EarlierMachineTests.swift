import MachineComparison
import Testing

@Suite("The machine and its earlier version")
struct EarlierMachineTests {
    @Test(
        "Random flows and messages have the same effects and snapshots as in the earlier version",
        arguments: [UInt64(1), 2])
    func comparison(seed: UInt64) throws {
        var comparison = MachineComparison(seed: seed << 32)
        try comparison.run(steps: 1_000)
        let summary = comparison.summary
        #expect(summary.changes > summary.steps / 5)
        let kinds = [
            "ask", "expectAnswer", "messageDiscarded", "screenDismissed", "expectScreenGone", "failed", "send",
            "openURL",
        ]
        for kind in kinds { #expect(summary.effects[kind, default: 0] > 0, "\(kind)") }
    }
}
