import BusSoak
import NATSTestSupport
import Testing

@Suite("NATS faults: servers that have lost the end of the journal", .serialized, .timeLimit(.minutes(6)))
struct LostEndTests {
    @Test func `The only server gets an older copy of its store, and everybody goes on in a new epoch`() async throws {
        try await FaultScene.run(.olderCopies, on: NATSCluster(single: NATSServer()))
    }

    @Test func `All three servers get older copies of their stores, and everybody goes on in a new epoch`() async throws
    {
        try await FaultScene.run(.olderCopies)
    }

    @Test func `Two of three servers get older copies of their stores: all copies are made anew from the leader`()
        async throws
    {
        try await FaultScene.run(.olderCopiesOfTwo)
    }
}
