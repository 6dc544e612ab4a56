import Dispatch
import MachineComparison
import Testing

@Suite("The machine and its earlier version")
struct EarlierMachineTests {
    @Test(
        "Random flows and messages have the same effects and snapshots as in the earlier version",
        arguments: 1...4 as ClosedRange<UInt64>)
    func comparison(seed: UInt64) async throws {
        let summary = try await Self.summary(seed: seed, steps: 25_000)
        #expect(summary.changes > summary.steps / 5)
        let kinds = [
            "ask", "began", "commandExpired", "expectAnswer", "expectScreenGone", "failed", "messageDiscarded",
            "openURL",
            "passed", "screenDismissed", "send",
        ]
        #expect(summary.effects.keys.sorted() == kinds)
        // The rarest kinds occur often enough for differences that only some of them show.
        for (kind, count) in summary.effects { #expect(count >= 10, "\(kind): \(count)") }
    }

    /// A comparison takes many seconds, for which it must not keep a thread that other tests wait for.
    private static func summary(seed: UInt64, steps: Int) async throws -> MachineComparison.Summary {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        var comparison = MachineComparison(seed: seed << 32)
                        try comparison.run(steps: steps)
                        return comparison.summary
                    })
            }
        }
    }
}
