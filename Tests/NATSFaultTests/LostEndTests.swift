import BusChecker
import BusSoak
import EventBus
import NATSTestSupport
import Testing

@Suite("NATS faults: servers that have lost the end of the journal", .serialized, .timeLimit(.minutes(4)))
struct LostEndTests {
    @Test func `The only server gets an older copy of its store, and everybody goes on in a new epoch`() async throws {
        try await FaultScene.runLosing(on: NATSCluster(single: NATSServer())) { try await $0.loseEnd() }
    }

    @Test func `All three servers get older copies of their stores, and everybody goes on in a new epoch`() async throws
    {
        try await FaultScene.runLosing { try await $0.loseEnd() }
    }
}

extension FaultScene {
    /// Replaces the stores of all servers by older copies, and waits until all processes work in a new epoch.
    /// - Returns: The messages that were acknowledged before.
    fileprivate func loseEnd() async throws -> Set<Value> {
        try await restart { for server in cluster.servers { try server.saveStore() } }
        try await untilWorking("after the copy was made")
        let before = try await restart {
            for server in cluster.servers { try server.putBackStore() }
            return arena.acknowledged(by: publisher.name)
        }
        try await arena.until("the reader begins anew") { $0["reader"]?.live == 2 }
        try await untilWorking("in the new epoch")
        return before
    }

    /// Kills all servers, and starts them again.
    fileprivate func restart<Result>(whileDead body: () throws -> Result) async throws -> Result {
        for server in cluster.servers { try await server.kill() }
        let result = try body()
        for server in cluster.servers { try await server.restart() }
        return result
    }
}
