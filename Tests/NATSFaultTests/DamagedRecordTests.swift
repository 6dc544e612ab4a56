import BusSoak
import NATSTestSupport
import Testing

@Suite("NATS faults: damaged records of the bus", .serialized, .timeLimit(.minutes(6)))
struct DamagedRecordTests {
    @Test func `A server that leads has lost the records of claims: the consumers claim anew, and handle everything`()
        async throws
    {
        try await FaultScene.run(.records)
    }
}
