import BusSoak
import Testing

@Suite("Lost journals, or lost ends of journals")
struct LostJournalTests {
    @Test(
        "Every process continues with the new journal, and no later acknowledged message is missing",
        .timeLimit(.minutes(4)), arguments: JournalLoss.allCases)
    func lost(_ loss: JournalLoss) async throws {
        let report = try await DamageRound(seed: 1, .loss(loss)).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.acknowledged > 0)
    }
}
