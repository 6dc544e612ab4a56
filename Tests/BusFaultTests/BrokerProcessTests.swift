import BusChecker
import BusSoak
import EventBus
import Foundation
import Testing

@Suite("When the broker's process meets what nobody hopes for")
struct BrokerProcessTests {
    @Test("a second broker ends with one line and the status of a wrong setting, and the first serves on")
    func secondBroker() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            try await arena.withBus { bus in
                try await bus.publish(Noted(text: "before"))
                let second = try await arena.startBroker("second")
                #expect(try await arena.untilEnd(of: second) == .exited(78))
                #expect(arena.log(of: "second").contains("another broker serves"))
                try await bus.publish(Noted(text: "after"))
            }
        }
    }

    @Test("a subscriber that is stopped costs the broker no more than is said, and gets everything afterwards")
    func stoppedSubscriber() async throws {
        let count = 30_000
        try await Arena.with { arena in
            let broker = try await arena.startBroker()
            let subscriber = try await arena.startFixture("stopped", "subscribe")
            try await arena.withBus { bus in
                try await bus.publish(Batch([probe(0, bus)]))
                try await arena.until("the subscriber reads") { $0["stopped"]?.delivered == 1 }
                try await subscriber.send(SIGSTOP)
                let before = try await memory(of: broker)
                for start in stride(from: 1, to: count, by: 500) {
                    try await bus.publish(Batch((start..<min(count, start + 500)).map { try probe($0, bus) }))
                }
                // 60 MB have passed; 2048 messages may wait for a subscriber that does not read: 5 MB.
                let growth = try await memory(of: broker) - before
                #expect(growth < 40 * 1024, "the broker grew by \(growth) KiB")
                try await subscriber.send(SIGCONT)
                try await arena.until("the subscriber has everything") { $0["stopped"]?.delivered == count }
            }
        }
    }

    private func probe(_ number: Int, _ bus: any EventBus) throws -> Envelope {
        try Probe.message(
            for: Value(publisher: "p", sequence: number), padding: String(repeating: "x", count: 2000),
            source: bus.source)
    }

    /// Resident, in KiB.
    private func memory(of process: ChildProcess) async throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(try await process.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}
