import BusConformance
import BusFormat
import BusProtocol
import EventBus
import Foundation
import TestSupport
import Testing
import ZeroMQ

@testable import ZeroMQEventBus

@Suite("Publishers that are ahead of their broker")
struct OutboxTests {
    @Test(
        "A publisher waits while the outbox is full, and a batch that is cancelled there is not published",
        .timeLimit(.minutes(1)))
    func fullOutbox() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let count = Outbox.capacity + 100
            let received = try await bus.whileOpen {
                async let published: Void = withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask { try await bus.publish(numbers: number..<number + 1) }
                    }
                    try await group.waitForAll()
                }
                await bus.waitUntil { $0.outbox.batches + $0.outbox.waiting == count }
                await #expect(throws: CancellationError.self) {
                    try await withThrowingTaskGroup(of: Void.self) { cancelled in
                        cancelled.addTask { try await bus.publish(numbers: -1..<0) }
                        await bus.waitUntil { $0.outbox.batches + $0.outbox.waiting == count + 1 }
                        cancelled.cancelAll()
                        try await cancelled.waitForAll()
                    }
                }
                let (batches, waiting) = await bus.outbox
                #expect(batches <= Outbox.capacity)
                #expect(waiting >= 100)
                #expect(batches + waiting == count)
                let received = try await broker.run {
                    _ = try await bus.withSubscription(to: [.all], from: .beginning) {
                        try await $0.receive(count).numbers
                    }
                    try await bus.publish(numbers: count..<count + 1)
                    return try await bus.withSubscription(to: [.all], from: .beginning) {
                        try await $0.receive(count + 1).numbers
                    }
                }
                try await published
                return received
            }
            #expect(received.sorted() == Array(0...count))
        }
    }

    @Test("Only a batch that is not answered is sent again", .timeLimit(.minutes(1)))
    func unanswered() async throws {
        let received = try await sequences(of: 3, receivedBy: Self.receiveBatches)
        #expect(Set(received) == [1, 2, 3])
        #expect(received.suffix(2) == [1, 1])
    }

    @Test("A slow broker receives each batch once", .timeLimit(.minutes(3)))
    func slowBroker() async throws {
        #expect(try await sequences(of: 200, receivedBy: Self.receiveSlowly) == Array(1...200))
    }

    /// Publishes batches at once.
    /// - Parameter receive: Serves the client at an address, and returns the sequence numbers of what arrives.
    private func sequences(
        of count: Int, receivedBy receive: @escaping @Sendable (String) throws -> [UInt64]
    ) async throws -> [UInt64] {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let address = broker.address
            async let sequences = withCheckedThrowingContinuation { continuation in
                Thread { continuation.resume(with: Result { try receive(address) }) }.start()
            }
            try await bus.whileOpen {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count { group.addTask { try await bus.publish(numbers: number..<number + 1) } }
                    try await group.waitForAll()
                }
            }
            return try await sequences
        }
    }

    @Test("A broker that accepts only the short hello of the first version receives that", .timeLimit(.minutes(1)))
    func shortHello() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let address = broker.address
            async let sizes = withCheckedThrowingContinuation { continuation in
                Thread { continuation.resume(with: Result { try Self.receiveShortHellos(at: address) }) }.start()
            }
            try await bus.whileOpen { try await bus.waitUntilConnected(timeout: .seconds(30)) }
            #expect(try await Set(sizes) == [49, 48])
        }
    }

    @Test("A client of a broker that was upgraded sends long hellos again", .timeLimit(.minutes(1)))
    func upgradedBroker() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let address = broker.address
            try await bus.whileOpen {
                let sizes = try await withCheckedThrowingContinuation { continuation in
                    Thread {
                        continuation.resume(with: Result { try Self.receiveShortHellos(at: address, count: 2) })
                    }.start()
                }
                #expect(sizes.last == 48)
                try await broker.run {
                    await bus.waitUntil { $0.machine.journal.lastWelcome?.more != nil }
                }
            }
        }
    }

    /// Serves one client until it says good-bye.
    /// - Parameters:
    ///   - isDone: Returns true to stop after a reply, even without a good-bye.
    ///   - answer: Returns the reply to a request. Nil if the request gets none.
    private static func serve(
        at address: String, until isDone: () -> Bool = { false },
        _ answer: (RequestHead, _ body: ArraySlice<[UInt8]>) throws -> Reply?
    ) throws {
        let ingress = try Socket(.router, options: [.linger(1000)])
        try ingress.bind("\(address)/ingress")
        let poll = SocketPoll([ingress])
        while try poll.wait(milliseconds: 30_000) {
            while let frames = try ingress.receive() {
                let head = try RequestHead(frames[1])
                if head.operation == .bye { return }
                guard let reply = try answer(head, frames[2...]) else { continue }
                _ = try ingress.send([frames[0]] + reply.frames(to: head))
                if isDone() { return }
            }
        }
        throw BusError(.unavailable, "the client did not say good-bye")
    }

    /// Refuses hellos that are longer than in the first version of the protocol.
    /// - Parameter count: The number of short hellos after which the server stops, even without a good-bye.
    /// - Returns: The sizes of the received hellos.
    private static func receiveShortHellos(at address: String, count: Int = .max) throws -> [Int] {
        var sizes: [Int] = []
        try serve(at: address, until: { sizes.count { $0 == 48 } == count }) { head, body in
            guard head.operation == .hello, let size = body.first?.count else { return nil }
            sizes.append(size)
            return size == 48
                ? .welcome(Welcome(epoch: 1, head: 0, sequence: 0))
                : .refused(ProtocolError(.malformed, "a frame is too long"))
        }
        return sizes
    }

    /// Serves one client as a broker does that works 10 ms for each request: much longer for all than the client waits
    /// for an answer.
    /// - Returns: The sequence numbers of the batches in the order of their arrival.
    private static func receiveSlowly(at address: String) throws -> [UInt64] {
        var sequences: [UInt64] = []
        try serve(at: address) { head, body in
            Thread.sleep(forTimeInterval: 0.01)
            switch try Request(head.operation, body: body) {
            case .publish(let batch):
                sequences.append(batch.sequence)
                return .published(epoch: 1, offset: batch.sequence)
            case .hello: return .welcome(Welcome(epoch: 1, head: 0, sequence: sequences.last ?? 0))
            default: return nil
            }
        }
        return sequences
    }

    /// Serves one client as a broker does, but answers its first batch only when this batch has arrived three times
    /// after the other batches were answered.
    /// - Returns: The sequence numbers of the batches in the order of their arrival.
    private static func receiveBatches(at address: String) throws -> [UInt64] {
        var sequences: [UInt64] = []
        var (answered, count): (Set<UInt64>, Int) = ([], 0)
        try serve(at: address) { head, body in
            switch try Request(head.operation, body: body) {
            case .publish(let batch):
                sequences.append(batch.sequence)
                if batch.sequence == 1 {
                    if answered.count == 2 { count += 1 }
                    guard count == 3 else { return nil }
                }
                answered.insert(batch.sequence)
                return .published(epoch: 1, offset: batch.sequence)
            case .hello: return .welcome(Welcome(epoch: 1, head: 3, sequence: 3))
            default: return nil
            }
        }
        return sequences
    }
}

extension ZeroMQEventBus {
    fileprivate var outbox: (batches: Int, waiting: Int) {
        (machine.outbox.batchCount, machine.outbox.waitingCount)
    }
}
