import BusSoak
import NATSTestSupport
import TestSupport
import Testing

@Suite("NATS faults: disks", .serialized, .timeLimit(.minutes(4)))
struct DiskTests {
    @Test func `A server returns with an old disk and leads later, without a loss`() async throws {
        try await FaultScene.run(.olderCopy)
    }

    @Test func `A server returns with an empty disk and leads later, without a loss`() async throws {
        try await FaultScene.run { scene in
            let server = try await scene.leader()
            try await server.kill()
            try server.removeStore()
            try await server.restart()
            try await scene.waitUntilWorking("after the server has returned with an empty disk")
            try await scene.makeLeader(server)
            try await scene.waitUntilWorking("with the leader that had an empty disk")
        }
    }

    @Test func `The other servers continue while the leader's disk is full, and it returns when there is room`()
        async throws
    {
        try #require(
            SmallDisk.isAllowed,
            "a server gets a small disk in a mount namespace (unshare --mount); allow it, or run the tests as root")
        try await FaultScene.run(.fullDiskOfLeader)
    }
}
