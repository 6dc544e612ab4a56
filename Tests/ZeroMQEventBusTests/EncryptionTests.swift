import BusConformance
import EventBus
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("What a network between the broker and its clients sees", .timeLimit(.minutes(1)))
struct EncryptionTests {
    @Test("With keys, no connection shows a message, its type or its publisher")
    func keys() async throws {
        try await TestBroker.withKeys(of: ["test"]) { broker, _ in try await exchange(over: broker, isReadable: false) }
    }

    @Test("Without keys, each shows all of them")
    func noKeys() async throws {
        try await TestBroker.withDirectory { try await exchange(over: $0, isReadable: true) }
    }

    /// Sends a message through relays, and compares what they have seen.
    private func exchange(over broker: TestBroker, isReadable: Bool) async throws {
        try await broker.withRelays { line in
            let bus = try line.relayed.bus("jeweller/1")
            try await bus.whileOpen {
                try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    let secret = "the safe is open on Friday"
                    let message = try Envelope(Counted(number: 1, padding: secret), source: bus.source)
                    try await bus.publish(Batch([message]))
                    let received = try await messages.receive(1)
                    #expect(try received.first?.decode(Counted.self).padding == secret)
                    for text in [secret, "event.Counted", "jeweller/1"] {
                        #expect(line.ingress.hasSeen(text) == isReadable, "\(text)")
                        #expect(line.feed.hasSeen(text) == isReadable, "\(text)")
                    }
                }
            }
        }
    }
}
