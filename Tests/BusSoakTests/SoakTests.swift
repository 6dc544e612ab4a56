import BusSoak
import Foundation
import Testing

@Suite("Bus with killed and stopped processes under load")
struct SoakTests {
    /// A fixed seed and a random one; or only the seed in SEGUE_SOAK_SEED, to repeat a run.
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["SEGUE_SOAK_SEED"].flatMap(UInt64.init).map { [$0] }
        ?? [1, UInt64.random(in: 1_000..<1_000_000)]

    /// The seed in SEGUE_SOAK_SEED; or a random one whose plan hits a server and a steward, as nearly all do.
    static let seedOnNATS: UInt64 = {
        guard seeds.count > 1 else { return seeds[0] }
        while true {
            let seed = UInt64.random(in: 1_000..<1_000_000)
            let members = NemesisPlan(engine: .nats, seed: seed, shape: .short).steps.map(\.member)
            if members.contains(where: \.isServer), members.contains(where: \.isSteward) { return seed }
        }
    }()

    // Each wait of a round has a deadline and says what it waited for; the limit is for a round that hangs elsewhere. On a
    // busy machine, a round takes several times as long as on an idle one.
    @Test("The bus causes no loss, no duplicate and no wrong order", .timeLimit(.minutes(20)), arguments: seeds)
    func shortRound(seed: UInt64) async throws {
        let report = try await SoakRound(seed: seed, shape: .short).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.acknowledged > 0 && report.timers > 0)
        #expect(report.kills + report.stops > 0)
    }

    @Test("A bus on three NATS servers causes no loss, no duplicate and no wrong order", .timeLimit(.minutes(20)))
    func shortRoundOnNATS() async throws {
        let report = try await SoakRound(engine: .nats, seed: Self.seedOnNATS, shape: .short).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.acknowledged > 0 && report.timers > 0)
        #expect(report.serverFaults > 0 && report.stewardFaults > 0)
    }
}
