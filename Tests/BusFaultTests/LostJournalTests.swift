import BusSoak
import Testing

@Suite("When a journal is lost, all of it or its end, under processes that publish, read and consume")
struct LostJournalTests {
    @Test(
        "everybody begins anew with what there is, and nothing that the lost one had not acknowledged is missing",
        .timeLimit(.minutes(4)), arguments: JournalLoss.allCases)
    func lost(_ loss: JournalLoss) async throws {
        let report = try await DamageRound(seed: 1, .loss(loss)).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.acknowledged > 0)
    }
}
