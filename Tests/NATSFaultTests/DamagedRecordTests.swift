import BusSoak
import NATSTestSupport
import Testing

@Suite("NATS faults: damaged records of the bus", .serialized, .timeLimit(.minutes(10)))
struct DamagedRecordTests {
    @Test
    func `The consumers claim again and handle everything after the leading server has lost the records of claims`()
        async throws
    {
        try await FaultScene.run(.records)
    }
}
