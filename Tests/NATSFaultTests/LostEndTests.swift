import BusChecker
import BusSoak
import EventBus
import NATSTestSupport
import Testing

@Suite("NATS faults: servers that have lost the end of the journal", .serialized, .timeLimit(.minutes(4)))
struct LostEndTests {
    @Test func `The only server gets an older copy of its store, and everybody goes on in a new epoch`() async throws {
        try await FaultScene.runLosing(on: NATSCluster(single: NATSServer())) { scene in
            try await scene.loseEnd(of: scene.cluster.servers)
        }
    }

    @Test func `All three servers get older copies of their stores, and everybody goes on in a new epoch`() async throws
    {
        try await FaultScene.runLosing { scene in try await scene.loseEnd(of: scene.cluster.servers) }
    }

    @Test func `Two of three servers get older copies of their stores`() async throws {
        try await FaultScene.runLosing { scene in
            try await scene.restart(scene.cluster.servers) {
                for server in scene.cluster.servers { try server.saveStore() }
            }
            try await scene.untilWorking("after the copy was made")
            let before = try await scene.restart(scene.cluster.servers) {
                for server in scene.cluster.servers.prefix(2) { try server.putBackStore() }
                return scene.arena.acknowledged(by: scene.publisher.name)
            }
            try await scene.untilWorking("with one server that has more")
            return before
        }
    }
}

extension FaultScene {
    /// Replaces the stores of some servers by older copies, and waits until all processes work in a new epoch.
    /// - Returns: The messages that were acknowledged before.
    fileprivate func loseEnd(of servers: [NATSServer]) async throws -> Set<Value> {
        try await restart(cluster.servers) { for server in servers { try server.saveStore() } }
        try await untilWorking("after the copy was made")
        let before = try await restart(cluster.servers) {
            for server in servers { try server.putBackStore() }
            return arena.acknowledged(by: publisher.name)
        }
        try await arena.until("the reader begins anew") { $0["reader"]?.live == 2 }
        try await untilWorking("in the new epoch")
        return before
    }

    /// Kills servers, and starts them again.
    fileprivate func restart<Result>(_ servers: [NATSServer], whileDead body: () throws -> Result) async throws
        -> Result
    {
        for server in servers { try await server.kill() }
        let result = try body()
        for server in servers { try await server.restart() }
        return result
    }
}
