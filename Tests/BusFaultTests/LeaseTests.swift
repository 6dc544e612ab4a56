import BusSoak
import EventBus
import Glibc
import Testing

@Suite("When the publisher of a leased document, or the broker, is killed")
struct LeaseTests {
    @Test("a leased document outlives its broker, and goes with its publisher", .timeLimit(.minutes(3)))
    func lease() async throws {
        try await Arena.with { arena in
            let broker = try await arena.startBroker("first")
            let killed = try await arena.startFixture("killed", "lease")
            let ended = try await arena.startFixture("ended", "lease")
            try await arena.until("both hold one") { $0["killed"]?.live == 1 && $0["ended"]?.live == 1 }
            try await arena.withBus { bus in
                try await bus.withSubscription(to: [.type(ProbeLease.self)], from: .now) { messages in
                    var withdrawn = messages.makeAsyncIterator()
                    for process in [broker, killed] {
                        try await process.send(SIGKILL)
                        try await arena.untilEnd(of: process)
                    }
                    _ = try await arena.startBroker("second")
                    #expect(try await bus.documents(matching: [.type(ProbeLease.self)]).count == 2)
                    // The other one has been silent no shorter, as far as the second broker knows.
                    let first = try await withdrawn.next()
                    #expect(first?.isTombstone == true)
                    #expect(first?.attributes.key == "killed")
                    let left = try await bus.documents(matching: [.type(ProbeLease.self)])
                    #expect(left.map(\.attributes.key) == ["ended"])
                    try await ended.send(SIGTERM)
                    let second = try await withdrawn.next()
                    #expect(second?.isTombstone == true)
                    #expect(second?.attributes.key == "ended")
                }
            }
        }
    }
}
