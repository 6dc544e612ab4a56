import BusConformance
import BusFormat
import BusKeys
import BusProtocol
import EventBus
import Foundation
import Support
import Synchronization
import SystemSupport
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@Suite("The connections of a bus when a key is revoked", .timeLimit(.minutes(1)))
struct RevocationTests {
    @Test("The replies that wait for a revoked peer are dropped, and the others lose nothing")
    func unreadReplies() async throws {
        try await TestBroker.withKeys(of: ["test", "guest"]) { broker, keys in
            try await broker.run {
                let bus = try broker.bus()
                try await bus.whileOpen {
                    let large = Setting(name: "large", value: String(repeating: "x", count: 200_000))
                    try await bus.publish(Batch([try Envelope(large, source: bus.source)]))
                    try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        let guest = SlowReader()
                        let last = try PublishedMessage(checking: Envelope(Counted(number: -1), source: "guest/1"))
                        let key = try KeyFile(path: keys.file(of: "guest"))
                        try await guest.read(200, from: broker.address, with: key.options, then: last)
                        #expect(try await messages.receive(1).numbers == [-1])
                        try await bus.publish(numbers: 0..<50)
                        let witness = Intruder()
                        try await witness.attack(broker.address, with: key.options)
                        try keys.revoke("guest")
                        try await bus.publish(numbers: 50..<100)
                        await witness.refused.waitUntilOpenOrCancelled()
                        await witness.stop()
                        await guest.drain()
                        await guest.refused.waitUntilOpenOrCancelled()
                        // A few were in the buffers of the kernel.
                        #expect(await guest.count < 40)
                        await guest.stop()
                        #expect(try await messages.receive(100).numbers == Array(0..<100))
                    }
                }
            }
        }
    }

    @Test("Queries that are open when a key is revoked are answered once")
    func openQueries() async throws {
        let type = MessageType(kind: .query, name: "Songs")
        @Sendable func message(_ number: Int, _ source: String) -> Envelope {
            Envelope(attributes: Attributes(type: type, source: source), data: Data("\(number)".utf8))
        }
        try await TestBroker.withKeys(of: ["test", "server", "guest"]) { broker, keys in
            try await broker.run {
                let (bus, server) = (try broker.bus(), try broker.bus("server/1", key: "server"))
                let (serving, gate, calls) = (Latch(), Latch(), Counter())
                try await bus.whileOpen {
                    try await server.whileOpen {
                        let serve: @Sendable () async throws -> Void = {
                            try await server.serve([type], whenServing: serving.open) { query in
                                calls.increment()
                                await gate.waitUntilOpenOrCancelled()
                                var answer = message(0, server.source)
                                answer.data = query.data
                                return answer
                            }
                        }
                        let answers = try await withBackground([serve]) {
                            await serving.waitUntilOpenOrCancelled()
                            return try await withThrowingTaskGroup(of: String.self) { group in
                                func ask(_ numbers: Range<Int>) {
                                    for number in numbers {
                                        group.addTask {
                                            let answer = try await bus.ask(
                                                message(number, bus.source), timeout: .seconds(50))
                                            return String(decoding: answer.data, as: UTF8.self)
                                        }
                                    }
                                }
                                ask(0..<20)
                                try await calls.waitUntil(20)
                                try keys.revoke("guest")
                                ask(20..<40)
                                gate.open()
                                return try await group.reduce(into: []) { $0.append($1) }
                            }
                        }
                        #expect(answers.compactMap(Int.init).sorted() == Array(0..<40))
                        #expect(calls.count == 40)
                    }
                }
            }
        }
    }
}

/// A peer that requests many pages, and reads no reply until it is told to.
private actor SlowReader {
    private let thread = ExecutorThread(name: "slow reader")
    private var socket: Socket?
    /// The number of replies that were received.
    private(set) var count = 0
    /// Open after a handshake has failed.
    nonisolated let refused = Latch()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Requests pages of all documents, then publishes a message.
    func read(_ count: Int, from address: String, with options: [SocketOption], then last: PublishedMessage) throws {
        let socket = try Socket(.dealer, options: options + [.linger(0), .receiveHighWaterMark(1)])
        let monitor = try SocketMonitor()
        try monitor.receiveEvents(of: socket)
        thread.add(monitor.watch { [refused] event in if event == .keyRefused { refused.open() } })
        try socket.connect(try BusAddress(address).ingress)
        let page = PageRequest(epoch: 0, after: 0, prefixes: ["document."])
        for id in 1...UInt64(count) { _ = try socket.send(Request.read(page).frames(id: id)) }
        let batch = PublishRequest(producer: ProducerID(), sequence: 1, messages: [last])
        _ = try socket.send(Request.publish(batch).frames(id: 1000))
        self.socket = socket
    }

    /// Begins to receive the replies.
    func drain() {
        guard let socket else { return }
        thread.add(SocketWatch(socket) { [weak self] in self?.assumeIsolated { $0.receive() } })
    }

    private func receive() {
        while (try? socket?.receive()) != nil { count += 1 }
    }

    func stop() {
        thread.removeAllWatches()
        socket = nil
        thread.stop()
    }
}
