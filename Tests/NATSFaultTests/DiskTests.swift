import BusSoak
import EventBus
import NATSTestSupport
import Testing

@Suite("NATS faults: disks", .serialized, .timeLimit(.minutes(4)))
struct DiskTests {
    @Test func `A server returns with an old disk, and leads later`() async throws {
        try await FaultScene.run { scene in
            let old = try await scene.follower()
            try await old.kill()
            try old.saveStore()
            try await old.restart()
            try await scene.untilWorking("after the copy was made")
            try await old.kill()
            try old.putBackStore()
            try await old.restart()
            try await scene.untilWorking("after the server has returned with an old disk")
            try await scene.makeLeader(old)
            try await scene.untilWorking("with the leader that had an old disk")
        }
    }

    @Test func `A server returns with an empty disk, and leads later`() async throws {
        try await FaultScene.run { scene in
            let server = try await scene.leader()
            try await server.kill()
            try server.removeStore()
            try await server.restart()
            try await scene.untilWorking("after the server has returned with an empty disk")
            try await scene.makeLeader(server)
            try await scene.untilWorking("with the leader that had an empty disk")
        }
    }

    @Test
    func `A bit of a server's files flips: everything is still read, and the steward says how to repair the server`()
        async throws
    {
        try await FaultScene.run { scene in
            try await scene.fill()
            let damaged = try await scene.follower()
            try await damaged.kill()
            try damaged.flipBit(inMessagesOf: FaultScene.journal)
            try await damaged.restart()
            try await scene.untilASteward(says: "server \(damaged.name) lacks")
            try await scene.untilEachReaderHasAll()
            try await scene.cluster.handLeadership(of: FaultScene.journal, to: damaged)
            try await scene.untilEachReaderHasAll()
        }
    }

    @Test func `The disk of the leader is full: the others go on, and it returns when there is room`() async throws {
        try #require(
            NATSServer.canHaveDisk,
            "a server gets a small disk in a mount namespace (unshare --mount); allow it, or run the tests as root")
        try await FaultScene.run(on: NATSCluster(diskSize: "64m")) { scene in
            let server = scene.cluster.servers[0]
            try await scene.makeLeader(server)
            try server.fillDisk()
            try await scene.untilWorking("while the disk is full")
            try await server.restart()
            try await scene.untilWorking("after the server has room again")
        }
    }
}

extension FaultScene {
    private static let fillerCount = 95

    /// Publishes more than one of the servers' files has, which is 8 MiB.
    fileprivate func fill() async throws {
        let text = String(repeating: "x", count: 100_000)
        try await arena.withBus { bus in
            for number in 0..<Self.fillerCount {
                try await bus.publish(
                    Batch([try Envelope(Filler(number: number, text: text), source: "test", subject: "s\(number)")]))
            }
        }
    }

    /// Waits until one of the stewards has logged a text.
    fileprivate func untilASteward(says text: String) async throws {
        let stewards = [leadingSteward, following].map(\.name)
        try await arena.until("a steward says that \(text)") { _ in
            stewards.contains { arena.log(of: $0).contains(text) }
        }
    }

    /// Reads the journal several times, each time from servers that JetStream chooses.
    fileprivate func untilEachReaderHasAll() async throws {
        for _ in 0..<3 {
            try await arena.withBus { bus in
                var numbers: [Int] = []
                try await bus.withSubscription(to: [.type(Filler.self)], from: .beginning) { messages in
                    for try await message in messages {
                        numbers.append(try message.decode(Filler.self).number)
                        if numbers.count == Self.fillerCount { break }
                    }
                }
                #expect(numbers == Array(0..<Self.fillerCount))
            }
        }
    }

    /// Kills the present leader, again and again, until a server leads.
    fileprivate func makeLeader(_ server: NATSServer) async throws {
        while true {
            let leader = try await leader()
            if leader === server { return }
            try await untilCurrent()
            try await leader.kill()
            _ = try await self.leader(otherThan: leader)
            try await leader.restart()
            try await untilWorking("with another leader")
        }
    }
}

private struct Filler: EventMessage {
    var number: Int
    var text: String
}
