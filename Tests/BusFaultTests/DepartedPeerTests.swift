import BusChecker
import BusFormat
import BusProtocol
import BusSoak
import BusStranger
import EventBus
import Foundation
import Glibc
import Testing
import ZeroMQ

/// libzmq can abort a process whose peer disconnects: with heartbeats while the pipe between them is full, and with
/// `ZMQ_IMMEDIATE` while a message is being received.
@Suite("Peers that leave with full connections", .timeLimit(.minutes(3)))
struct DepartedPeerTests {
    private static let names = ["Noted", "Other"]

    /// Messages that alternate between two topics, so that each one is a packet of its own on the feed.
    private func messages(_ count: Int) -> [PublishedMessage] {
        (0..<count).map { number in
            BadHeader.empty.message(MessageType(kind: .event, name: Self.names[number % 2]))
        }
    }

    @Test(
        "The broker continues after clients that sent thousands of reads and read no answer", arguments: [1, 200])
    func reads(filterCount: Int) async throws {
        try await Arena.with { arena in
            let broker = try await arena.startBroker()
            let messages = messages(1000)
            let rare = BadHeader.empty.message(MessageType(kind: .event, name: "Rare"))
            _ = try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
                for sequence in 1...5 as ClosedRange<UInt64> { _ = try stranger.publish(messages, sequence: sequence) }
                return try stranger.publish([rare], sequence: 6)
            }
            // Each read examines all rows.
            let filters = (0..<filterCount).map { $0 == 0 ? "event.Rare." : "event.Type\($0)." }
            let request = Request.read(PageRequest(epoch: 0, after: 0, prefixes: filters))
            for _ in 1...2 {
                try await Stranger.withConnection(to: "\(arena.bus)/ingress", options: [.sendHighWaterMark(0)]) {
                    stranger in
                    for id in 1...4000 as ClosedRange<UInt64> { try stranger.send(request.frames(id: id)) }
                    _ = try stranger.receive()
                }
                // The broker answers this after it has handled the requests that it had received.
                try await arena.withBus { _ = try await $0.inspect.newest(matching: [.all]) }
            }
            try await broker.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: broker) == .exited(0))
        }
    }

    @Test(
        "A client with 1,024 pending batches survives each of its brokers, even if it is stopped meanwhile")
    func batches() async throws {
        try await Arena.with { arena in
            let publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "1024", "--batch", "1"])
            for round in 1...12 {
                let broker = try await arena.startBroker("broker\(round)")
                let count = await arena.counts(of: "publisher").acknowledged
                try await arena.until("the publisher publishes to broker \(round)") {
                    $0["publisher"]?.acknowledged ?? 0 > count + 1024
                }
                if round > 2 {
                    try await publisher.send(SIGSTOP)
                    // The broker answers this after it has answered the batches: their acknowledgements wait.
                    try await arena.withBus { _ = try await $0.inspect.end() }
                }
                try await broker.send(SIGKILL)
                try await arena.waitUntilEnd(of: broker)
                try await publisher.send(SIGCONT)
            }
            _ = try await arena.startBroker("last")
            try await publisher.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: publisher) == .exited(0))
            let history = try await arena.history(publishers: ["publisher"], groups: [], readers: [])
            #expect(Checker.findings(in: history) == [])
        }
    }

    @Test("A client that does not read its feed survives its broker, and then reads all that it missed")
    func feed() async throws {
        try await Arena.with { arena in
            let count = 7000
            let broker = try await arena.startBroker("first")
            let pipe = "\(arena.directory)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let stalled = try await arena.startFixture(
                "stalled", "stall", ["--count", "\(count)", "--pipe", pipe])
            try await arena.waitUntilLog(of: "stalled", "says that it is subscribed") { $0.contains("subscribed") }
            _ = try await arena.startFixture("watcher", "lease")
            try await arena.until("the watcher is there") { $0["watcher"]?.live == 1 }
            try await arena.withBus { bus in
                try await bus.withSubscription(to: [.kind(.event)], from: .now) { messages in
                    let batch = (0..<1000).map { number in
                        Attributes(
                            type: MessageType(kind: .event, name: Self.names[number % 2]), source: "test/1")
                    }
                    var iterator = messages.makeAsyncIterator()
                    for _ in 0..<count / 1000 {
                        try await bus.publish(Batch(batch.map { Envelope(attributes: $0, data: Data("{}".utf8)) }))
                        for _ in 0..<1000 { _ = try await iterator.next() }
                    }
                }
                try await broker.send(SIGKILL)
                try await arena.waitUntilEnd(of: broker)
                // The message is logged after 4 s, which is longer than the interval of the heartbeats.
                try await arena.waitUntilLog(of: "watcher", "misses the broker") { $0.contains("no broker answers") }
                try #require(!stalled.hasEnded)
                _ = try await arena.startBroker("second")
                try await Stranger.onThread {
                    try FileHandle(forWritingTo: URL(fileURLWithPath: pipe)).close()
                }
                try await arena.waitUntilLog(of: "stalled", "says that it has all") { $0.contains("received \(count)") }
            }
        }
    }
}
