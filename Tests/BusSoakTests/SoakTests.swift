import BusSoak
import Foundation
import Testing

@Suite("A bus whose processes are killed and stopped under load")
struct SoakTests {
    /// One that stays the same, and one that never was before; or the one that SEGUE_SOAK_SEED has again.
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["SEGUE_SOAK_SEED"].flatMap(UInt64.init).map { [$0] }
        ?? [1, UInt64.random(in: 1_000..<1_000_000)]

    @Test("loses nothing, doubles nothing and keeps its order", .timeLimit(.minutes(5)), arguments: seeds)
    func shortRound(seed: UInt64) async throws {
        let report = try await SoakRound(seed: seed, shape: .short).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.acknowledged > 0)
        #expect(report.kills + report.stops > 0)
    }
}
