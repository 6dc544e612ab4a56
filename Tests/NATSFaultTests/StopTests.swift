import BusSoak
import EventBus
import Glibc
import NATSTestSupport
import Testing

@Suite("NATS faults: servers and stewards that stop and continue", .serialized, .timeLimit(.minutes(4)))
struct StopTests {
    @Test func `A leader that stops for longer than an election causes no loss`() async throws {
        try await FaultScene.run { scene in
            let leader = try await scene.leader()
            leader.pause()
            _ = try await scene.leader(otherThan: leader)
            try await scene.waitUntilWorking("while the old leader is stopped")
            leader.resume()
            try await scene.waitUntilWorking("after the old leader has continued")
        }
    }

    @Test func `A stopped follower with a connected publisher causes no loss`() async throws {
        try await FaultScene.run(extra: ["local"]) { scene in
            let follower = try await scene.follower()
            let local = try await scene.startPublisher("local", on: [follower])
            try await scene.arena.until("the local publisher works") { $0[local.name]?.acknowledged ?? 0 > 20 }
            follower.pause()
            try await scene.waitUntilWorking("while a follower is stopped")
            follower.resume()
            let before = await scene.arena.counts(of: local.name).acknowledged
            try await scene.arena.until("the local publisher goes on") {
                $0[local.name]?.acknowledged ?? 0 > before + 20
            }
        }
    }

    @Test func `A stop of all servers, and then a kill of all, cause no loss`() async throws {
        try await FaultScene.run { scene in
            for server in scene.servers { server.pause() }
            try await scene.arena.waitUntilLog(of: "publisher", "says that publishing waits") {
                $0.contains("NATS does not acknowledge batches")
            }
            // The fault takes longer than a lease.
            try await Task.sleep(for: .seconds(3))
            for server in scene.servers { server.resume() }
            try await scene.waitUntilWorking("after all servers have continued")
            #expect(!scene.arena.log(of: scene.leadingSteward.name).contains("silent"))
            for server in scene.servers { try await server.kill() }
            for server in scene.servers { try await server.restart() }
            try await scene.waitUntilWorking("after all servers have started again")
        }
    }

    @Test func `Another steward takes over when the leading one stops, and both continue`() async throws {
        try await FaultScene.run { scene in
            try await scene.leadingSteward.send(SIGSTOP)
            try await scene.waitUntilFollowingStewardLeads()
            try await scene.leadingSteward.send(SIGCONT)
            try await scene.arena.waitUntilLog(of: scene.leadingSteward.name, "says that another one leads") {
                $0.contains("another steward leads")
            }
            try await scene.waitUntilWorking("after the old steward has continued")
        }
    }

    @Test func `Another steward takes over when the leading one is killed`() async throws {
        try await FaultScene.run { scene in
            try await scene.leadingSteward.send(SIGKILL)
            try await scene.arena.waitUntilEnd(of: scene.leadingSteward)
            try await scene.waitUntilFollowingStewardLeads()
            try await scene.waitUntilWorking("with the other steward")
        }
    }
}

@Suite("NATS faults: clients that stop and continue", .serialized, .timeLimit(.minutes(4)))
struct ClientStopTests {
    @Test func `A member of a consumer that stops for longer than its lease continues without a loss`() async throws {
        try await FaultScene.run { scene in
            try await scene.workers[0].send(SIGSTOP)
            try await scene.waitUntilMembers(of: "shared", are: 1)
            try await scene.waitUntilWorking("with one worker")
            try await scene.workers[0].send(SIGCONT)
            try await scene.waitUntilMembers(of: "shared", are: 2)
            try await scene.waitUntilWorking("with two workers")
        }
    }

    @Test func `Another process takes over when an exclusive consumer stops`() async throws {
        try await FaultScene.run { scene in
            try await scene.consumer.send(SIGSTOP)
            let successor = try await scene.arena.startConsumer("successor", group: "exclusive")
            try await scene.arena.until("the successor works") { $0[successor.name]?.handled ?? 0 > 20 }
            try await scene.consumer.send(SIGCONT)
            #expect(try await scene.arena.waitUntilEnd(of: scene.consumer) == .exited(FixtureProcess.fenced))
        }
    }

    @Test func `A publisher with pending batches stops while the leader is killed, without a loss`() async throws {
        try await FaultScene.run(extra: ["other"]) { scene in
            _ = try await scene.startPublisher("other", on: scene.servers)
            try await scene.publisher.send(SIGSTOP)
            let leader = try await scene.leader()
            try await leader.kill()
            try await scene.waitUntilWorking("while a publisher is stopped")
            try await leader.restart()
            try await scene.publisher.send(SIGCONT)
            let before = await scene.arena.counts(of: "publisher").acknowledged
            try await scene.arena.until("the publisher goes on") {
                $0["publisher"]?.acknowledged ?? 0 > before + 50
            }
        }
    }

    @Test func `A publisher that is killed with pending batches causes no duplicate`() async throws {
        try await FaultScene.run(extra: ["other"]) { scene in
            _ = try await scene.startPublisher("other", on: scene.servers)
            // Without the leader nothing is acknowledged, so each of the four lanes soon waits for a batch of two.
            let leader = try await scene.leader()
            leader.pause()
            try await scene.arena.until("all lanes wait") { counts in
                counts["publisher"].map { $0.invoked == $0.acknowledged + 8 } ?? false
            }
            try await scene.publisher.send(SIGKILL)
            try await scene.arena.waitUntilEnd(of: scene.publisher)
            leader.resume()
            try await scene.waitUntilWorking("after a publisher was killed")
        }
    }
}

extension FaultScene {
    /// Waits until the second steward leads, and gives the partitions of a killed worker to the other one. If it did
    /// not, results would be missing.
    fileprivate func waitUntilFollowingStewardLeads() async throws {
        try await waitUntilWorking("without a steward")
        try await arena.waitUntilLog(of: following.name, "says that it leads") { $0.contains("leading") }
        try await workers[0].send(SIGKILL)
        try await arena.waitUntilEnd(of: workers[0])
        try await waitUntilMembers(of: "shared", are: 1)
    }

    /// Waits until a durable consumer has a number of members.
    func waitUntilMembers(of name: String, are count: Int) async throws {
        try await arena.withBus { bus in
            while try await bus.inspect.consumers().first(where: { $0.name == name })?.memberCount != count {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
