import BusSoak
import EventBus
import Glibc
import Testing

@Suite("Leased documents without a broker")
struct LeaseTests {
    @Test(
        "A leased document survives a kill or stop of the broker, and is withdrawn with its publisher",
        .timeLimit(.minutes(3)), arguments: [SIGKILL, SIGSTOP])
    func lease(signal: Int32) async throws {
        try await Arena.with { arena in
            let broker = try await arena.startBroker("first")
            let killed = try await arena.startFixture("killed", "lease")
            let ended = try await arena.startFixture("ended", "lease")
            try await arena.until("both hold one") { $0["killed"]?.live == 1 && $0["ended"]?.live == 1 }
            try await arena.withBus { bus in
                try await bus.withSubscription(to: [.type(ProbeLease.self)], from: .now) { messages in
                    var withdrawn = messages.makeAsyncIterator()
                    try await broker.send(signal)
                    try await killed.send(SIGKILL)
                    try await arena.waitUntilEnd(of: killed)
                    if signal == SIGSTOP {
                        // The message is logged after 4 s and after 8 s, so more time passes than a lease and a
                        // connection last.
                        try await arena.waitUntilLog(of: "ended", "misses the broker") {
                            $0.matches(of: #/no broker answers/#).count == 2
                        }
                        try await broker.send(SIGCONT)
                    } else {
                        try await arena.waitUntilEnd(of: broker)
                        _ = try await arena.startBroker("second")
                    }
                    #expect(try await bus.documents(matching: [.type(ProbeLease.self)]).count == 2)
                    // The other process was silent for just as long when the broker came back, and keeps its document.
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

    @Test(
        "A process that was stopped for longer than its lease publishes its leased document again",
        .timeLimit(.minutes(2)))
    func stopped() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let holder = try await arena.startFixture("holder", "lease")
            try await arena.until("it holds one") { $0["holder"]?.live == 1 }
            try await arena.withBus { bus in
                try await bus.withSubscription(to: [.type(ProbeLease.self)], from: .now) { messages in
                    var changes = messages.makeAsyncIterator()
                    try await holder.send(SIGSTOP)
                    #expect(try await changes.next()?.isTombstone == true)
                    try await holder.send(SIGCONT)
                    let again = try await changes.next()
                    #expect(again?.isTombstone == false)
                    #expect(again?.attributes.key == "holder")
                    // The document is leased again: it is withdrawn when its holder ends.
                    try await holder.send(SIGTERM)
                    #expect(try await changes.next()?.isTombstone == true)
                }
            }
        }
    }
}
