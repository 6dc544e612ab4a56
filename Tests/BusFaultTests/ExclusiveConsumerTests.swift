import BusChecker
import BusSoak
import EventBus
import Glibc
import Testing

@Suite("When a process is stopped before it has claimed an exclusive durable consumer")
struct ExclusiveConsumerTests {
    @Test(
        "it takes over from its successor when it goes on; the successor ends, and each message has one result",
        .timeLimit(.minutes(3)))
    func firstClaim() async throws {
        try await Arena.with { arena in
            // There is no broker yet, so its claim cannot have been made.
            let stopped = try await arena.startConsumer("stopped", group: "group")
            try await stopped.send(SIGSTOP)
            _ = try await arena.startBroker()
            let successor = try await arena.startConsumer("successor", group: "group")
            let publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "1", "--batch", "1"])
            try await arena.until("the successor handles messages") { $0["successor"]?.handled ?? 0 > 0 }
            #expect(await arena.counts(of: "stopped").handled == 0)

            try await stopped.send(SIGCONT)
            #expect(try await arena.untilEnd(of: successor) == .exited(FixtureProcess.fenced))
            #expect(arena.log(of: "successor").contains("another process has taken group over"))
            try await arena.until("the one that was stopped handles messages") { $0["stopped"]?.handled ?? 0 > 0 }

            try await publisher.send(SIGTERM)
            #expect(try await arena.untilEnd(of: publisher) == .exited(0))
            let history = try await arena.history(publishers: ["publisher"], groups: ["group"], readers: [])
            #expect(Checker.findings(in: history) == [])
            #expect(!stopped.hasEnded)
        }
    }
}
