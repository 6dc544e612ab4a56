import BusConformance
import BusFormat
import BusProtocol
import EventBus
import Foundation
import Support
import Synchronization
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@Suite("Clients of a broker of an earlier version", .timeLimit(.minutes(1)))
struct OldBrokerTests {
    /// Runs `body` with a client of a broker that knows only the operations up to `last`.
    private func withBus(
        knowing last: UInt8, _ body: @escaping @Sendable (ZeroMQEventBus) async throws -> Void
    ) async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                try await OldBroker.run(before: broker, knowing: last) { address in
                    let bus = try ZeroMQEventBus(address: address, source: "test/1", logger: .silent)
                    try await bus.whileOpen { try await body(bus) }
                }
            }
        }
    }

    @Test("The end of the journal is read with an empty batch")
    func end() async throws {
        try await withBus(knowing: 19) { bus in
            #expect(try await bus.end().offset == 0)
            try await bus.publish(numbers: 0..<3)
            #expect(try await bus.end().offset == 3)
        }
    }

    @Test("Dead letters are counted and listed from pages that contain their data")
    func deadLetters() async throws {
        try await withBus(knowing: 19) { bus in
            try await bus.publish(numbers: 0..<300)
            let claim = try await bus.claim(consumer: "worker")
            try await bus.withSubscription(to: [.type(Counted.self)], under: claim) { messages in
                var count = 0
                for try await message in messages {
                    let rejection = Rejection(code: "no.use", reason: "it is of no use", attempts: 1)
                    try await bus.publish(
                        Batch(
                            [], checkpoint: Checkpoint(claim: claim, handled: Delivery(message)), rejection: rejection))
                    count += 1
                    if count == 300 { break }
                }
            }
            #expect(try await bus.deadLetterCount(of: nil) == 300)
            #expect(try await bus.deadLetterCount(of: "worker") == 300)
            #expect(try await bus.deadLetterCount(of: "nobody") == 0)
            let page = try await bus.deadLetterSummaries(of: "worker", after: 100, limit: 10)
            #expect(page.map(\.id) == Array(101...110))
            #expect(page.allSatisfy { $0.message.data.isEmpty && $0.dataSize > 0 })
        }
    }
}

/// Stands between one client and a broker. It refuses the operations that a broker of an earlier version does not know.
private final class OldBroker: Sendable {
    private let broker: TestBroker
    private let last: UInt8
    private let isOver = Mutex(false)

    /// - Parameters:
    ///   - last: The last operation that the broker knows.
    ///   - body: Receives the address for the client.
    static func run(
        before broker: TestBroker, knowing last: UInt8, _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        let folder = broker.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("feed"),
            withDestinationURL: broker.directory.appendingPathComponent("feed"))
        let relay = OldBroker(broker, knowing: last)
        let hasEnded = Latch()
        // Only the thread that has created a socket may use it.
        Thread {
            relay.relay(to: "ipc://\(folder.path)/ingress")
            hasEnded.open()
        }.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body("ipc://\(folder.path)")) } catch { result = .failure(error) }
        relay.isOver.withLock { $0 = true }
        await hasEnded.waitUntilOpenOrCancelled()
        try result.get()
    }

    private init(_ broker: TestBroker, knowing last: UInt8) {
        self.broker = broker
        self.last = last
    }

    private func relay(to endpoint: String) {
        do {
            let front = try Socket(.router, options: [.linger(0)])
            let back = try Socket(.dealer, options: [.linger(0), .receiveTimeout(1)])
            try front.bind(endpoint)
            try back.connect("\(broker.address)/ingress")
            var client: [UInt8] = []
            while !isOver.withLock(\.self) {
                var isIdle = true
                while let frames = try front.receive() {
                    isIdle = false
                    client = frames[0]
                    if let refusal = refusal(of: frames.dropFirst()) {
                        _ = try front.send([client] + Reply.refused(refusal).frames(head: frames[1]))
                    } else {
                        _ = try back.send(Array(frames.dropFirst()))
                    }
                }
                while let frames = try back.receive() {
                    isIdle = false
                    _ = try front.send([client] + frames)
                }
                if isIdle { Thread.sleep(forTimeInterval: 0.001) }
            }
        } catch {
            Issue.record(error)
        }
    }

    private func refusal(of frames: ArraySlice<[UInt8]>) -> ProtocolError? {
        guard let head = frames.first.flatMap({ try? RequestHead($0) }) else { return nil }
        if head.operation.rawValue > last { return ProtocolError(.operation, "the operation is unknown") }
        return nil
    }
}
