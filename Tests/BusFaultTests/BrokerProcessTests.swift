import BusChecker
import BusSoak
import EventBus
import Foundation
import Testing

@Suite("Faults of the broker's process")
struct BrokerProcessTests {
    @Test("A second broker ends with one line and the status of a wrong setting, and the first continues")
    func secondBroker() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            try await arena.withBus { bus in
                try await bus.publish(Noted(text: "before"))
                let second = try await arena.startBroker("second")
                #expect(try await arena.waitUntilEnd(of: second) == .exited(78))
                #expect(arena.log(of: "second").contains("another broker serves"))
                try await bus.publish(Noted(text: "after"))
            }
        }
    }

    @Test("Processes that start before their broker wait for it, without a loss", .timeLimit(.minutes(3)))
    func brokerLast() async throws {
        try await Arena.with { arena in
            let publisher = try await arena.startFixture("publisher", "publish", ["--count", "50"])
            _ = try await arena.startFixture("reader", "subscribe")
            _ = try await arena.startConsumer("consumer", group: "exclusive")
            _ = try await arena.startConsumer("worker1", group: "shared", mode: .shared)
            _ = try await arena.startConsumer("worker2", group: "shared", mode: .shared)
            try await arena.until("every lane waits with a batch") { $0["publisher"]?.invoked == 32 }
            _ = try await arena.startBroker()
            #expect(try await arena.waitUntilEnd(of: publisher) == .exited(0))
            let history = try await arena.history(
                publishers: ["publisher"], groups: ["exclusive", "shared"], readers: ["reader"])
            #expect(history.acknowledged.count == 400)
            #expect(Checker.findings(in: history) == [])
        }
    }

    @Test(
        "A burst for a stopped subscriber costs the broker limited memory, and others are not affected",
        .timeLimit(.minutes(4)))
    func stoppedSubscriber() async throws {
        // The messages have 60 MB together. At most 2048 messages (33 MiB) wait for a subscriber that does not read.
        let (count, step, warmUp) = (4000, 100, 400)
        try await Arena.with { arena in
            let broker = try await arena.startBroker()
            let stopped = try await arena.startFixture("stopped", "subscribe")
            _ = try await arena.startFixture("reader", "subscribe")
            _ = try await arena.startConsumer("consumer", group: "group")
            try await arena.withBus { bus in
                var before = 0
                for start in stride(from: 0, to: count, by: step) {
                    if start == warmUp {
                        try await arena.until("it reads") { $0["stopped"]?.delivered == warmUp }
                        try await stopped.send(SIGSTOP)
                        before = try await memory(of: broker)
                    }
                    try await bus.publish(Batch((start..<start + step).map { try probe($0, bus) }))
                    // Waits for the reader, so that messages in the broker's queues are only for the stopped
                    // subscriber.
                    try await arena.until("the reader has it") { $0["reader"]?.delivered == start + step }
                }
                let growth = try await memory(of: broker) - before
                #expect(growth < 48 * 1024, "the broker grew by \(growth) KiB")
                try await arena.until("the consumer goes on") { $0["consumer"]?.handled ?? 0 > 2 * warmUp }
                try await stopped.send(SIGCONT)
                try await arena.until("the subscriber has everything") { $0["stopped"]?.delivered == count }
            }
        }
    }

    private func probe(_ number: Int, _ bus: EventBus) throws -> Envelope {
        try Probe.message(
            for: Value(publisher: "p", sequence: number), padding: String(repeating: "x", count: 15_000),
            source: bus.source)
    }

    /// The resident memory of a process in KiB.
    private func memory(of process: ChildProcess) async throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(try await process.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}

struct Noted: EventMessage {
    var text: String
}

extension EventBus {
    func noted(_ text: String) throws -> Envelope {
        try Envelope(Noted(text: text), source: source)
    }
}
