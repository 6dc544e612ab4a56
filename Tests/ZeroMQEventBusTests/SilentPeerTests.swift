import BusConformance
import EventBus
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Silent TCP connections that are not closed", .timeLimit(.minutes(2)))
struct SilentPeerTests {
    private func withRelays(_ body: @escaping @Sendable (RelayedBroker) async throws -> Void) async throws {
        try await TestBroker.withDirectory { try await $0.withRelays(body) }
    }

    @Test("A subscriber whose feed is silent receives it again, including transient messages")
    func feed() async throws {
        try await withRelays { line in
            let (near, far) = (try line.broker.bus(), try line.relayed.bus())
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        var iterator = messages.makeAsyncIterator()
                        try await near.publish(numbers: 0..<1)
                        #expect(try await iterator.next()?.decode(Counted.self).number == 0)
                        line.feed.fallSilent()
                        // Recorded messages arrive from the journal. A transient one arrives only when the feed works
                        // again.
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask {
                                for number in 1... {
                                    try await near.publish(numbers: number..<number + 1)
                                    let fleeting = try Envelope(Counted(number: -1), source: "test/1")
                                    try await near.publishTransient([fleeting])
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

    @Test("A subscription that begins while the feed is silent becomes live")
    func confirmation() async throws {
        try await withRelays { line in
            let far = try line.relayed.bus()
            try await far.whileOpen {
                try await far.withSubscription(to: [.type(Recounting.self)], from: .now) { _ in }
                line.feed.fallSilent()
                try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    try await far.publish(numbers: 0..<1)
                    #expect(try await messages.receive(1).numbers == [0])
                }
            }
        }
    }

    @Test("A client whose connections are both silent publishes and reads again, without a loss")
    func both() async throws {
        try await withRelays { line in
            let (near, far) = (try line.broker.bus(), try line.relayed.bus())
            try await near.whileOpen {
                try await far.whileOpen {
                    try await far.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await far.publish(numbers: 0..<1)
                        line.ingress.fallSilent()
                        line.feed.fallSilent()
                        try await near.publish(numbers: 1..<2)
                        try await far.publish(numbers: 2..<3)
                        #expect(try await messages.receive(3).numbers == [0, 1, 2])
                    }
                }
            }
        }
    }
}

private struct Recounting: EventMessage {}
