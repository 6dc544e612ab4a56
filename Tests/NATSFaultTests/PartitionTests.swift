import BusSoak
import EventBus
import Glibc
import NATSTestSupport
import Testing

@Suite("NATS faults: partitions of the network", .serialized, .timeLimit(.minutes(4)))
struct PartitionTests {
    @Test func `A separated follower, with a publisher and a reader on its side, causes no loss`() async throws {
        try await FaultScene.run(on: NATSCluster(isSeparable: true), extra: ["local", "distant"]) { scene in
            try await scene.separate(try await scene.follower())
        }
    }

    @Test func `A separated leader, with a publisher and a reader on its side, causes no loss`() async throws {
        try await FaultScene.run(on: NATSCluster(isSeparable: true), extra: ["local", "distant"]) { scene in
            try await scene.separate(try await scene.leader())
        }
    }
}

extension FaultScene {
    /// Separates a server to which a publisher and a reader are connected, until the others have gone on, and joins it.
    fileprivate func separate(_ server: NATSServer) async throws {
        let local = try await startPublisher("local", on: [server])
        let localReader = try await arena.startFixture("localReader", "subscribe", bus: Arena.address(of: [server]))
        try await arena.until("the processes at the server work") { counts in
            counts[local.name]?.acknowledged ?? 0 > 20 && counts[localReader.name]?.delivered ?? 0 > 20
        }
        try cluster().separate(server)
        let leader = try await leader(otherThan: server)
        #expect(leader !== server)
        // A publisher of the other side, which may have been connected to the server, is connected to the majority.
        _ = try await startPublisher("distant", on: servers.filter { $0 !== server })
        try await arena.until("the majority works") { $0["distant"]?.acknowledged ?? 0 > 100 }
        let atSeparation = await arena.counts(of: local.name).acknowledged
        try await arena.until("the majority goes on") { $0["distant"]?.acknowledged ?? 0 > 200 }
        // Without the others, the server acknowledges nothing.
        #expect(await arena.counts(of: local.name).acknowledged == atSeparation)
        try cluster().join(server)
        try await arena.until("the publisher at the server goes on") {
            $0[local.name]?.acknowledged ?? 0 > atSeparation + 50
        }
        try await waitUntilWorking("after the servers have joined")
        let last = await arena.counts(of: localReader.name).delivered
        try await arena.until("the reader at the server goes on") { $0[localReader.name]?.delivered ?? 0 > last }
        try await localReader.send(SIGTERM)
        #expect(try await arena.waitUntilEnd(of: localReader) == .exited(0))
    }
}
