import BusChecker
import BusSoak
import EventBus
import Glibc
import Testing

@Suite("Stopped process before its claim of an exclusive consumer")
struct ExclusiveConsumerTests {
    @Test(
        "A stopped process takes over from its successor when it continues, and each message has one result",
        .timeLimit(.minutes(3)))
    func firstClaim() async throws {
        try await Arena.with { arena in
            // There is no broker yet, so this process is stopped before its first claim.
            let stopped = try await arena.startConsumer("stopped", group: "group")
            try await stopped.send(SIGSTOP)
            _ = try await arena.startBroker()
            let successor = try await arena.startConsumer("successor", group: "group")
            let publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "1", "--batch", "1"])
            try await arena.until("the successor handles messages") { $0["successor"]?.handled ?? 0 > 0 }
            #expect(await arena.counts(of: "stopped").handled == 0)

            try await stopped.send(SIGCONT)
            #expect(try await arena.waitUntilEnd(of: successor) == .exited(FixtureProcess.fenced))
            #expect(arena.log(of: "successor").contains("another process has taken over the durable consumer 'group'"))
            try await arena.until("the one that was stopped handles messages") { $0["stopped"]?.handled ?? 0 > 0 }

            try await publisher.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: publisher) == .exited(0))
            let history = try await arena.history(publishers: ["publisher"], groups: ["group"], readers: [])
            #expect(Checker.findings(in: history) == [])
            #expect(!stopped.hasEnded)
        }
    }
}

@Suite("Killed and stopped members of a shared consumer")
struct SharedConsumerTests {
    @Test(
        "The other members handle the messages after a lease, and a member that continues shares them again",
        .timeLimit(.minutes(3)), arguments: [SIGKILL, SIGSTOP])
    func lease(signal: Int32) async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let worker = try await arena.startConsumer("hit", group: "group", mode: .shared)
            _ = try await arena.startConsumer("other", group: "group", mode: .shared)
            let first = try await arena.startFixture("first", "publish", ["--count", "50"])
            try await arena.until("both handle") {
                $0["hit"]?.handled ?? 0 > 0 && $0["other"]?.handled ?? 0 > 0
            }
            try await worker.send(signal)
            #expect(try await arena.waitUntilEnd(of: first) == .exited(0))
            // When all messages have results, the other worker has taken over.
            let before = try await arena.history(publishers: ["first"], groups: ["group"], readers: [])
            #expect(Checker.findings(in: before) == [])
            guard signal == SIGSTOP else { return }
            let handled = await arena.counts(of: "hit").handled
            try await worker.send(SIGCONT)
            let second = try await arena.startFixture("second", "publish", ["--lanes", "1", "--batch", "1"])
            // The worker may still finish one message of each partition that it had before.
            try await arena.until("it shares again") { $0["hit"]?.handled ?? 0 > handled + Partition.count }
            try await second.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: second) == .exited(0))
            let history = try await arena.history(publishers: ["first", "second"], groups: ["group"], readers: [])
            #expect(Checker.findings(in: history) == [])
            #expect(history.acknowledged.count > 400)
        }
    }
}
