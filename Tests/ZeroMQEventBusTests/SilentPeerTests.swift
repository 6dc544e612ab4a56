import Broker
import EventBus
import Foundation
import Logging
import Testing
import ZeroMQEventBus

@Suite("When a TCP connection falls silent without being closed", .timeLimit(.minutes(2)))
struct SilentPeerTests {
    /// A broker with a relay before each of its sockets.
    private struct Line: Sendable {
        let broker: String
        let relayed: String
        let ingress: SilentRelay
        let feed: SilentRelay
    }

    /// - Parameter body: runs on ports that are free: to look before would be a race.
    private func withLine(_ body: @escaping @Sendable (Line) async throws -> Void) async throws {
        try await TestBroker.withDirectory { files in
            for _ in 1...20 {
                // Below those that the kernel gives to connections.
                let port = Int.random(in: 5_000..<16_000) * 2
                var configuration = files.configuration
                configuration.address = "tcp://127.0.0.1:\(port)"
                let settings = configuration
                do {
                    return try await whileRunning({
                        try await SilentRelay.run(from: port + 2, to: port) { ingress in
                            try await SilentRelay.run(from: port + 3, to: port + 1) { feed in
                                try await body(
                                    Line(
                                        broker: settings.address, relayed: "tcp://127.0.0.1:\(port + 2)",
                                        ingress: ingress, feed: feed))
                            }
                        }
                    }) { ready in
                        try await Broker(settings, logger: .quiet).run { ready() }
                    }
                } catch let error as BusError where error.code == .address {
                } catch is SilentRelay.Failure {}
            }
            Issue.record("no port is free")
        }
    }

    private func bus(_ address: String) throws -> ZeroMQEventBus {
        try ZeroMQEventBus(address: address, source: "test/1", logger: .quiet)
    }

    @Test("a subscriber whose feed falls silent gets it again: also what no journal has")
    func feed() async throws {
        try await withLine { line in
            let (near, far) = (try bus(line.broker), try bus(line.relayed))
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        var iterator = messages.makeAsyncIterator()
                        try await near.publish(numbers: 0..<1)
                        #expect(try await iterator.next()?.decode(Counted.self).number == 0)
                        line.feed.fallSilent()
                        // Each comes, from the journal; a transient one only once the feed is there again.
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask {
                                for number in 1... {
                                    try await near.publish(numbers: number..<number + 1)
                                    let fleeting = try Envelope(Counted(number: -1), source: "test/1")
                                    try await near.publish(Batch([fleeting], isTransient: true))
                                }
                            }
                            var expected = 1
                            while let number = try await iterator.next()?.decode(Counted.self).number, number >= 0 {
                                #expect(number == expected)
                                expected += 1
                            }
                            group.cancelAll()
                        }
                    }
                }
            }
        }
    }

    @Test("a subscription that begins while the feed is silent becomes live")
    func confirmation() async throws {
        try await withLine { line in
            let far = try bus(line.relayed)
            try await far.whileOpen {
                try await far.withSubscription(to: [.type(Recounting.self)], from: .now) { _ in }
                line.feed.fallSilent()
                try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    try await far.publish(numbers: 0..<1)
                    #expect(try await messages.numbers(1) == [0])
                }
            }
        }
    }

    @Test("a client of which both connections fall silent publishes and reads again, and loses nothing")
    func both() async throws {
        try await withLine { line in
            let (near, far) = (try bus(line.broker), try bus(line.relayed))
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await far.publish(numbers: 0..<1)
                        line.ingress.fallSilent()
                        line.feed.fallSilent()
                        try await near.publish(numbers: 1..<2)
                        try await far.publish(numbers: 2..<3)
                        #expect(try await messages.numbers(3) == [0, 1, 2])
                    }
                }
            }
        }
    }
}

private struct Recounting: EventMessage {}
