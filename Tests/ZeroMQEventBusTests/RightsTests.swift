import Broker
import BusAccess
import BusConformance
import BusKeys
import BusProtocol
import EventBus
import Foundation
import Support
import SystemSupport
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@Suite("Rights on a bus with keys", .timeLimit(.minutes(1)))
struct RightsTests {
    /// Runs `body` with a broker that has an access file, a service `music` that may read only documents, and a device
    /// `phone` of the session `anna`.
    private func run(
        overTCP: Bool = false,
        _ body: @escaping @Sendable (TestBroker, KeyFolder, ZeroMQEventBus) async throws -> Void
    ) async throws {
        try await TestBroker.withKeys(of: ["music"]) { broker, keys in
            _ = try keys.add("operator")
            _ = try keys.add("phone", role: "device", session: "anna")
            var (music, devices) = (AccessEntry(), AccessEntry())
            music.publishes = [Setting.type]
            music.reads = [Setting.type]
            devices.publishes = [Counted.type]
            devices.reads = [Setting.type, Counted.type]
            _ = try keys.write(Access(services: ["music": music], devices: devices))
            func run(_ broker: TestBroker) async throws {
                try await broker.run {
                    let bus = try broker.bus("operator/1", key: "operator")
                    try await bus.whileOpen { try await body(broker, keys, bus) }
                }
            }
            try await overTCP ? broker.onPort(run) : run(broker)
        }
    }

    @Test("A subscription, a message and a query that the access file does not allow fail with the reason")
    func refusals() async throws {
        try await run { broker, _, _ in
            let music = try broker.bus("music/1", key: "music")
            try await music.whileOpen {
                let setting = try Envelope(Setting(name: "color", value: "red"), source: music.source)
                try await music.publish(Batch([setting]))
                for request: @Sendable () async throws -> Void in [
                    { try await music.publish(numbers: 0..<1) },
                    { try await music.withSubscription(to: [.type(Counted.self)], from: .now) { _ in } },
                    { try await music.withSubscription(to: [.all], from: .now) { _ in } },
                    { _ = try await music.claim(consumer: "navigation-coordinator.ios") },
                ] {
                    let error = await #expect(throws: BusError.self) { try await request() }
                    #expect(error?.code == .forbidden)
                    #expect(error?.message.hasPrefix("'music' may not ") == true)
                }
                let document = try await music.document(Setting.type, subject: "default", key: "color")
                #expect(document != nil, "the bus goes on")
            }
        }
    }

    @Test(
        "A peer that subscribes to what it may not receive is cut off from the feed, and gets nothing",
        arguments: ["", "event.", "event.Counted.", "document."], ["music", "phone"])
    func cutOff(_ topic: String, _ name: String) async throws {
        try await run { broker, keys, bus in
            let peer = Intruder()
            try await peer.attack(
                broker.address, with: try KeyFile(path: keys.file(of: name)).options, subscribing: topic)
            await peer.refused.waitUntilOpenOrCancelled()
            try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                try await bus.publish(numbers: 0..<100)
                let numbers = try await messages.receive(100).numbers
                #expect(numbers == Array(0..<100))
            }
            #expect(await peer.feedCount == 0)
            await peer.stop()
            try await broker.waitForAudit("request-forbidden")
        }
    }

    @Test("Nor does it get anything if its subscription comes behind many that are allowed")
    func burst() async throws {
        try await run { broker, keys, bus in
            let inbox = "~" + String(repeating: "0", count: 32)
            let topics = (0..<5000).map { "\(inbox).\($0)" } + ["event."]
            let peer = Intruder()
            let options = try KeyFile(path: keys.file(of: "phone")).options
            // Without a subscriber, the broker sends nothing on the feed.
            try await bus.withSubscription(to: [.type(Setting.self)], from: .now) { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask { while true { try await bus.publish(numbers: 0..<500, batch: 500) } }
                    }
                    try await bus.publish(numbers: 0..<500, batch: 500)
                    // Messages are published while the broker receives the subscriptions.
                    try await peer.attack(broker.address, with: options, subscribing: topics)
                    await peer.refused.waitUntilOpenOrCancelled()
                    group.cancelAll()
                }
            }
            let messages = await peer.received.filter { $0.first?.starts(with: "event.".utf8) == true }
            #expect(messages.isEmpty)
            await peer.stop()
        }
    }

    @Test("Over TCP, such a peer loses its own connection only, and the others not even transient messages")
    func cutOffAlone() async throws {
        try await run(overTCP: true) { broker, keys, bus in
            try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                func publish(_ numbers: Range<Int>) async throws {
                    for number in numbers {
                        let message = try Envelope(Counted(number: number), source: bus.source)
                        try await bus.publishTransient([message])
                        let received = try await messages.receive(1).numbers
                        #expect(received == [number])
                    }
                }
                let peer = Intruder()
                let options = try KeyFile(path: keys.file(of: "phone")).options
                try await peer.attack(broker.address, with: options, subscribing: "event.")
                try await publish(0..<200)
                await peer.refused.waitUntilOpenOrCancelled()
                try await publish(200..<300)
                #expect(await peer.feedCount == 0)
                await peer.stop()
            }
        }
    }

    @Test("A device receives the messages of its session as they are published, and none of another session")
    func device() async throws {
        let partition = Partition(subject: "anna")
        let neighbour = try #require((0..<1000).map { "s\($0)" }.first { Partition(subject: $0) == partition })
        try await run { broker, _, bus in
            let phone = try broker.bus("phone/1", key: "phone")
            try await phone.whileOpen {
                let filters: [MessageFilter] = [
                    .kind(.document, subject: "anna"), .type(Counted.self, subject: "anna"),
                ]
                try await phone.withSubscription(to: filters, from: .retained) { messages in
                    for (round, value) in ["red", "green"].enumerated() {
                        for session in [neighbour, "boris", "anna"] {
                            try await bus.publish(
                                Batch([
                                    try Envelope(
                                        Setting(name: "color", value: "\(value) of \(session)"), source: bus.source,
                                        subject: session),
                                    try Envelope(Counted(number: round), source: bus.source, subject: session),
                                ]))
                        }
                        let received = try await messages.receive(2)
                        #expect(received.map(\.subject) == ["anna", "anna"])
                        let setting = try received[0].decode(Setting.self)
                        #expect(setting.value == "\(value) of anna")
                    }
                    try await phone.publish(
                        Batch([try Envelope(Counted(number: 7), source: phone.source, subject: "anna")]))
                    let own = try await messages.receive(1).numbers
                    #expect(own == [7])
                }
                let error = await #expect(throws: BusError.self) {
                    try await phone.publish(
                        Batch([try Envelope(Counted(number: 7), source: phone.source, subject: "boris")]))
                }
                #expect(error?.code == .forbidden)
                let documents = try await phone.documents(matching: [.kind(.document)])
                #expect(documents.map(\.subject) == ["anna"])
                await #expect(throws: BusError.self) {
                    _ = try await phone.document(Setting.type, subject: "boris", key: "color")
                }
            }
        }
    }

    @Test("Rights that are taken away end the feed of their user, and the others lose nothing")
    func narrowed() async throws {
        try await run { broker, keys, bus in
            let music = try broker.bus("music/1", key: "music")
            try await music.whileOpen {
                try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    try await bus.publish(numbers: 0..<50)
                    let error = await #expect(throws: BusError.self) {
                        try await music.withSubscription(to: [.type(Setting.self)], from: .now) { settings in
                            _ = try keys.write(Access(services: [:]))
                            // The journal must grow before anybody looks for losses.
                            let setting = try Envelope(Setting(name: "color", value: "blue"), source: bus.source)
                            try await bus.publish(Batch([setting]))
                            while true { _ = try await settings.receive(1) }
                        }
                    }
                    #expect(error?.code == .forbidden)
                    await #expect(throws: BusError.self) {
                        while true {
                            let setting = try Envelope(Setting(name: "color", value: "red"), source: music.source)
                            try await music.publish(Batch([setting]))
                        }
                    }
                    try await bus.publish(numbers: 50..<100)
                    let numbers = try await messages.receive(100).numbers
                    #expect(numbers == Array(0..<100))
                }
            }
        }
    }
}
