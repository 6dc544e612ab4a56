import Broker
import BusConformance
import BusFormat
import BusKeys
import BusProtocol
import EventBus
import Foundation
import Logging
import Support
import SystemSupport
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@Suite("A bus with keys", .timeLimit(.minutes(1)))
struct KeyTests {
    @Test(
        "A peer without an accepted key receives no byte, and its requests are not answered",
        arguments: Intruder.Kind.allCases)
    func intruders(_ kind: Intruder.Kind) async throws {
        let log = LogRecorder()
        try await TestBroker.withKeys(of: ["test"]) { broker, keys in
            try await broker.run(logger: log.logger) {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    let intruder = Intruder()
                    try await intruder.attack(broker.address, with: kind.options(keys))
                    await intruder.refused.waitUntilOpenOrCancelled()
                    try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await bus.publish(numbers: 0..<100)
                        #expect(try await messages.receive(100).numbers == Array(0..<100))
                    }
                    #expect(await intruder.received.isEmpty)
                    await intruder.stop()
                    try await broker.waitForAudit("connection-refused")
                }
            }
        }
        #expect(log.text.contains("connections were refused ("))
        // The notice, which is also published.
        #expect(log.text.contains("connections or requests were refused (connection-refused)"))
    }

    @Test("A key that is added while the broker runs is accepted, and one that is revoked ends its bus")
    func revoking() async throws {
        try await TestBroker.withKeys(of: ["test"]) { broker, keys in
            try await broker.run {
                _ = try keys.add("guest")
                let (bus, guest) = (try broker.bus(), try broker.bus("guest/1", key: "guest"))
                try await bus.whileOpen {
                    let error = await #expect(throws: BusError.self) {
                        try await guest.whileOpen {
                            try await guest.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                                try await guest.publish(numbers: 0..<1)
                                let numbers = try await messages.receive(1).numbers
                                #expect(numbers == [0])
                                try keys.revoke("guest")
                                _ = try await messages.receive(1)
                            }
                        }
                    }
                    #expect(error?.code == .denied)
                    try await bus.withSubscription(to: [.type(Counted.self)], from: .beginning) { messages in
                        try await bus.publish(numbers: 1..<100)
                        #expect(try await messages.receive(100).numbers == Array(0..<100))
                        // Only the feed brings transient messages.
                        try await bus.publishTransient([try Envelope(Counted(number: -1), source: bus.source)])
                        #expect(try await messages.receive(1).numbers == [-1])
                    }
                }
            }
        }
    }

    @Test("After its revocation, a peer that stays connected receives nothing more")
    func revokedPeer() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    let guest = Intruder()
                    try await guest.attack(broker.address, with: try KeyFile(path: keys.file(of: "guest")).options)
                    // Until the guest's subscription is live, messages may pass it by.
                    repeat { try await bus.publish(numbers: 0..<1) } while await guest.feedCount == 0
                    try keys.revoke("guest")
                    // The feed has closed the connection, and refuses the next one.
                    await guest.refused.waitUntilOpenOrCancelled()
                    let count = await guest.feedCount
                    try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await bus.publish(numbers: 1..<100)
                        #expect(try await messages.receive(99).numbers == Array(1..<100))
                    }
                    #expect(await guest.feedCount == count)
                    await guest.stop()
                }
            }
        }
    }

    @Test("A message has the session and the publisher that the broker has verified, whatever its header says")
    func liar() async throws {
        try await TestBroker.withKeys(of: ["test", "liar"]) { broker, keys in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    let liar = Intruder()
                    try await liar.attack(broker.address, with: try KeyFile(path: keys.file(of: "liar")).options)
                    let types: [MessageFilter] = [.type(Counted.self), .type(Setting.self)]
                    try await bus.withSubscription(to: types, from: .now) { messages in
                        let producer = ProducerID()
                        let lies = try [
                            Envelope(Counted(number: 1), source: "test/7", subject: "boris"),
                            Envelope(Setting(name: "color", value: "red"), source: "test/7", subject: "boris"),
                        ].map { try PublishedMessage($0).claimed(for: "anna") }
                        try await liar.send(.publish(PublishRequest(producer: producer, sequence: 1, messages: lies)))
                        let live = try await messages.receive(2)
                        let past = try await bus.withSubscription(to: types, from: .beginning) {
                            try await $0.receive(2)
                        }
                        let document = try await bus.document(Setting.type, subject: "anna", key: "color")
                        for message in live + past + [try #require(document)] {
                            #expect(message.subject == "anna")
                            #expect(message.attributes.source == "liar/7")
                        }
                        let ofAnna = try await bus.withSubscription(
                            to: [.subject("anna")], from: .beginning
                        ) { try await $0.receive(2) }
                        #expect(ofAnna == past)
                    }
                    await liar.stop()
                }
            }
        }
    }

    @Test("A damaged list of keys changes nothing, and counts again when it is repaired")
    func damagedList() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            let copy = KeyFolder(path: keys.path + "-copy")
            try FileManager.default.copyItem(atPath: keys.path, toPath: copy.path)
            try copy.revoke("guest")
            let repaired = try Data(contentsOf: URL(fileURLWithPath: copy.list))
            let log = LogRecorder()
            try await broker.run(logger: log.logger) {
                let guest = try broker.bus("guest/1", key: "guest")
                let error = await #expect(throws: BusError.self) {
                    try await guest.whileOpen {
                        try await guest.publish(numbers: 0..<1)
                        try Data("garbage".utf8).write(to: URL(fileURLWithPath: keys.list))
                        while !log.text.contains("the broker accepts the keys that it has read before") {
                            try await guest.publish(numbers: 0..<1)
                        }
                        try repaired.write(to: URL(fileURLWithPath: keys.list))
                        try await Latch().waitUntilOpen()
                    }
                }
                #expect(error?.code == .denied)
            }
        }
    }

    @Test("A list of keys that is replaced together with its folder takes effect, too", .timeLimit(.minutes(1)))
    func replacedFolder() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            try await broker.run {
                let guest = try broker.bus("guest/1", key: "guest")
                let error = await #expect(throws: BusError.self) {
                    try await guest.whileOpen {
                        try await guest.waitUntilConnected(timeout: .seconds(30))
                        let copy = keys.path + "-copy"
                        try FileManager.default.copyItem(atPath: keys.path, toPath: copy)
                        try KeyFolder(path: copy).revoke("guest")
                        try FileManager.default.moveItem(atPath: keys.path, toPath: keys.path + "-old")
                        try FileManager.default.moveItem(atPath: copy, toPath: keys.path)
                        try await Latch().waitUntilOpen()
                    }
                }
                #expect(error?.code == .denied)
            }
        }
    }

    @Test("The leased documents of a revoked key are withdrawn at once")
    func leases() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            try await broker.run {
                let (bus, guest) = (try broker.bus(), try broker.bus("guest/1", key: "guest"))
                try await bus.whileOpen {
                    try await bus.withSubscription(to: [.type(Setting.self)], from: .now) { messages in
                        await #expect(throws: BusError.self) {
                            try await guest.whileOpen {
                                let setting = try Envelope(Setting(name: "leased", value: "1"), source: guest.source)
                                try await guest.publish(Batch([setting], isLeased: true))
                                try keys.revoke("guest")
                                try await Latch().waitUntilOpen()
                            }
                        }
                        let withdrawals = try await messages.receive(2).map(\.data.isEmpty)
                        #expect(withdrawals == [false, true])
                    }
                }
            }
        }
    }

    @Test("A process whose key is replaced continues with the new one, and loses nothing")
    func rotating() async throws {
        try await TestBroker.withKeys(of: ["test", "other"]) { broker, keys in
            try await broker.run {
                let (bus, other) = (try broker.bus(), try broker.bus("other/1", key: "other"))
                try await bus.whileOpen {
                    try await other.whileOpen {
                        try await other.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                            try await bus.publish(numbers: 0..<10)
                            _ = try keys.rotate("other")
                            _ = try keys.rotate("test")
                            try await bus.publish(numbers: 10..<20)
                            try await other.publish(numbers: 20..<30)
                            let numbers = try await messages.receive(30).numbers
                            #expect(numbers == Array(0..<30))
                        }
                    }
                }
            }
        }
    }

    @Test("All others continue when a key is revoked, and lose nothing", arguments: [40])
    func others(_ count: Int) async throws {
        let names = (0..<count).map { "client-\($0)" }
        try await TestBroker.withKeys(of: names + ["test", "guest"]) { broker, keys in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    try await withThrowingTaskGroup(of: [Int].self) { group in
                        let live = Counter()
                        for name in names {
                            group.addTask {
                                let client = try broker.bus("\(name)/1", key: name)
                                return try await client.whileOpen {
                                    try await client.withSubscription(to: [.type(Counted.self)], from: .now) {
                                        live.increment()
                                        return try await $0.receive(200).numbers
                                    }
                                }
                            }
                        }
                        try await live.waitUntil(count)
                        try await bus.publish(numbers: 0..<100)
                        try keys.revoke("guest")
                        try await bus.publish(numbers: 100..<200)
                        for try await numbers in group { #expect(numbers == Array(0..<200)) }
                    }
                }
            }
        }
    }

    @Test("A connection to a socket with keys about which nobody decides is refused")
    func nobodyDecides() async throws {
        try await TestBroker.withKeys(of: ["test"]) { broker, keys in
            let own = try keys.broker().keys
            let options = SocketOption.curveServer(secretKey: own.secretKey, domain: "nobody")
            let address = try BusAddress(broker.address)
            let server = try Socket(.router, options: options)
            try server.bind(address.ingress)
            let intruder = Intruder()
            try await intruder.attack(broker.address, with: try KeyFile(path: keys.file(of: "test")).options)
            await intruder.refused.waitUntilOpenOrCancelled()
            #expect(try server.receive() == nil)
            await intruder.stop()
        }
    }

    @Test("A process with a key that is not accepted learns it in one line")
    func unknownKey() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            let copy = broker.directory.appendingPathComponent("copy").path
            try FileManager.default.copyItem(atPath: keys.path, toPath: copy)
            try keys.revoke("guest")
            try await broker.run {
                let guest = try ZeroMQEventBus(
                    address: broker.address, source: "guest/1", keyFile: copy + "/guest.key", logger: .silent)
                let error = await #expect(throws: BusError.self) {
                    try await guest.whileOpen { try await guest.waitUntilConnected(timeout: .seconds(60)) }
                }
                #expect(error?.code == .denied)
                #expect(error?.message.contains("does not accept the key of 'guest'") == true)
            }
        }
    }

    @Test("Neither a broker nor a client uses a network without keys, unless both are told to")
    func network() async throws {
        try await TestBroker.withDirectory { broker in
            var configuration = broker.configuration
            configuration.address = "tcp://127.0.0.1:1"
            let refused = configuration
            for error in [
                await #expect(throws: BusError.self) { try await Broker(refused, logger: .silent).run() },
                #expect(throws: BusError.self) {
                    try ZeroMQEventBus(address: refused.address, source: "test/1", logger: .silent)
                },
            ] {
                #expect(error?.code == .address)
                #expect(error?.message.contains("segue keys init") == true)
                #expect(error?.message.contains("--insecure") == true)
            }
        }
    }
}

extension PublishedMessage {
    /// A copy for another session, with the same header.
    fileprivate func claimed(for session: String) throws -> PublishedMessage {
        let type = try #require(Topic(topic)).type
        return PublishedMessage(
            topic: Topic(type, subject: session).name, subject: session, key: key, header: header, data: data)
    }
}

/// A peer that uses the broker's sockets directly.
actor Intruder {
    enum Kind: String, CaseIterable {
        case withoutKey, withUnknownKey, withBrokerKeyOfAnotherBus

        func options(_ keys: KeyFolder) throws -> [SocketOption] {
            func options(for brokerKey: CurveKey) -> [SocketOption] {
                KeyFile(name: "intruder", keys: CurveKeyPair(), brokerKey: brokerKey).options
            }
            return switch self {
            case .withoutKey: []
            case .withUnknownKey: options(for: try keys.broker().keys.publicKey)
            case .withBrokerKeyOfAnotherBus: options(for: CurveKeyPair().publicKey)
            }
        }
    }

    private let thread = ExecutorThread(name: "intruder")
    private var sockets: [Socket] = []
    /// Everything that the broker has sent.
    private(set) var received: [[[UInt8]]] = []
    /// The number of messages on the feed.
    private(set) var feedCount = 0
    /// Open after a handshake has failed.
    nonisolated let refused = Latch()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Subscribes to topics, or to everything, and asks for the end of the journal.
    func attack(_ address: String, with options: [SocketOption], subscribing topics: String...) throws {
        try attack(address, with: options, subscribing: topics.isEmpty ? [""] : topics)
    }

    /// Does the same with many topics.
    func attack(_ address: String, with options: [SocketOption], subscribing topics: [String]) throws {
        let address = try BusAddress(address)
        let ingress = try Socket(.dealer, options: options + [.linger(0)])
        let feed = try Socket(.sub, options: options + [.linger(0), .sendHighWaterMark(0)])
        for topic in topics { try feed.set(.subscribe(topic)) }
        sockets = [ingress, feed]
        for (index, endpoint) in [address.ingress, address.feed].enumerated() {
            let socket = sockets[index]
            let monitor = try SocketMonitor()
            try monitor.receiveEvents(of: socket)
            thread.add(
                monitor.watch { [refused] event in
                    if event == .keyRefused || event == .mechanismRefused { refused.open() }
                })
            try socket.connect(endpoint)
            thread.add(SocketWatch(socket) { [weak self] in self?.assumeIsolated { $0.receive(from: index) } })
        }
        _ = try ingress.send(Request.end.frames(id: 1))
    }

    func send(_ request: Request) throws {
        _ = try sockets[0].send(request.frames(id: 2))
    }

    private func receive(from index: Int) {
        while let frames = try? sockets[index].receive() {
            received.append(frames)
            if index == 1 { feedCount += 1 }
        }
    }

    func stop() {
        thread.removeAllWatches()
        sockets = []
        thread.stop()
    }
}
