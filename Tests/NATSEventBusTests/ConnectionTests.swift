import BusConformance
import BusFormat
import EventBus
import Foundation
import NATSLayout
import NATSTestSupport
import Support
import TestSupport
import Testing

@testable import NATS
@testable import NATSEventBus

@Suite("NATS bus: connection", .sharedServer, .timeLimit(.minutes(2)))
struct ConnectionTests {
    @Test func `Calls wait until the streams exist`() async throws {
        let bus = TestBus(server: try #require(SharedServer.current))
        try await bus.whileOpen { client in
            let error = await #expect(throws: BusError.self) {
                // Long enough for the answer that there is no stream, and any answer is an error.
                try await client.waitUntilConnected(timeout: .seconds(2))
            }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("the stream '\(bus.namespace)' does not exist") == true)
            let published = try await withThrowingTaskGroup(of: Position.self) { group in
                group.addTask { try await client.publish(Batch([Counted(number: 1).envelope()])) }
                try await bus.makeStreams()
                return try await group.next()
            }
            let received = try await client.withSubscription(to: [.all], from: .beginning) { try await $0.receive(1) }
            #expect(received.map(\.position) == [published])
            try await client.waitUntilConnected(timeout: .seconds(30))
        }
    }

    @Test func `A bus that has ended keeps no connection, also after a subscription without an end`() async throws {
        let bus = TestBus(server: try #require(SharedServer.current))
        weak let connection = try await bus.whileOpen { client in
            try await bus.makeStreams()
            try await client.withSubscription(to: [.all], from: .now) { messages in
                try await client.publish(Batch([Counted(number: 1).envelope()]))
                #expect(try await messages.receive(1).count == 1)
            }
            return client.journal.connection
        }
        // The last references are those of jobs that the connection's thread still runs.
        while connection != nil { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func `Without a server the bus is unavailable`() async throws {
        let server = try NATSServer()
        let bus = try NATSEventBus(address: server.url, source: "test/1", logger: .silent)
        let error = await #expect(throws: BusError.self) {
            try await bus.whileOpen { try await bus.waitUntilConnected(timeout: .milliseconds(300)) }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
    }

    @Test func `A server with small messages is refused, with the setting to change`() async throws {
        try await NATSServer(settings: "max_payload: 128KB").whileRunning { server in
            let client = try TestBus(server: server).bus()
            // Each call has the reason, also after the end of `run()`.
            let calls: [@Sendable () async throws -> Void] = [
                { try await client.run() }, { try await client.publish(Counted(number: 1)) },
                { _ = try await client.claim(consumer: "c") }, { _ = try await client.documents(matching: [.all]) },
                { try await client.serve([Counted.type], whenServing: {}) { $0 } },
            ]
            for call in calls {
                let error = await #expect(throws: BusError.self) { try await call() }
                #expect(error?.code == .address)
                #expect(error?.message.contains("set max_payload: 9MB") == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test func `Batches are limited by max_payload, and a message near the limit can be given up`()
        async throws
    {
        try await NATSServer(settings: "max_payload: 512KB").whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await bus.whileOpen { client in
                let limit = try await client.maximumBatchSize()
                #expect(limit == 496 << 10)
                let large = try State(value: String(repeating: "v", count: limit)).envelope()
                let error = await #expect(throws: BusError.self) { try await client.publish(Batch([large])) }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("\(limit); split it, or set max_payload: 9MB") == true)
                let rest = try PackedMessages([State(value: "").envelope()], isTransient: false).bytes.count
                let largest = try State(value: String(repeating: "v", count: limit - rest - 16)).envelope()
                let position = try await client.publish(Batch([largest]))
                #expect(try await client.bus.document(State.self)?.value.count == limit - rest - 16)

                let name = String(repeating: "ü", count: 127)
                let claim = try await client.claim(consumer: name)
                let checkpoint = Checkpoint(
                    claim: claim, position: position, partition: Partition(subject: largest.subject),
                    previous: nil, settled: position.offset)
                let reason = Rejection(code: "c", reason: String(repeating: "r", count: 10_000), attempts: 1)
                try await client.publish(Batch([], checkpoint: checkpoint, rejection: reason))
                let deadLetters = try await client.bus.inspect.deadLetters(of: name)
                #expect(deadLetters.map(\.message.id) == [largest.id])
                #expect(deadLetters.first?.message.data == largest.data)
            }
        }
    }

    @Test func `A server that is too old is refused`() throws {
        let address = try NATSAddress("nats://127.0.0.1:4222")
        var server = NATSServerInfo(maximumPayload: 9 << 20)
        #expect(JournalConnection.refusal(of: server, at: address) == nil, "the version is not known")
        for (version, isRefused) in [("2.9.10", true), ("2.12.0", true), ("2.12.1", false), ("2.15.1", false)] {
            server.version = version
            let refusal = JournalConnection.refusal(of: server, at: address)
            #expect((refusal != nil) == isRefused)
            #expect(refusal.map { $0.code == .address && $0.message.contains(version) } ?? true)
        }
    }

    @Test func `A stream that is not a journal, or has another layout, is refused`() async throws {
        for metadata in [[:], ["segue-epoch": "1f", "segue-layout": "2"]] as [JSONValue] {
            let bus = TestBus(server: try #require(SharedServer.current))
            let settings: JSONValue = [
                "name": .string(bus.names.journal), "subjects": [.string(bus.names.batches)], "metadata": metadata,
            ]
            try await bus.withJetStream { _ = try await $0.createStream(settings) }
            let error = await #expect(throws: BusError.self) {
                try await bus.whileOpen { try await $0.waitUntilConnected(timeout: .seconds(30)) }
            }
            #expect(error?.code == .address)
        }
    }

    @Test func `run() cannot be called twice, and calls fail after its end`() async throws {
        let bus = try await TestBus.make().bus()
        try await bus.whileOpen { _ = try await bus.publish(Counted(number: 1)) }
        let calls: [@Sendable () async throws -> Void] = [
            { try await bus.run() }, { try await bus.publish(Counted(number: 2)) },
            { _ = try await bus.documents(matching: [.all]) },
            { _ = try await bus.withSubscription(to: [.all], from: .now) { try await $0.receive(1) } },
        ]
        for call in calls {
            let error = await #expect(throws: BusError.self) { try await call() }
            #expect(error?.code == .closed)
        }
    }

    @Test func `A reader that waits, and a caller that waits for a server, end when the bus is closed`() async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            let client = try bus.bus()
            let isLive = Latch()
            let calls: [@Sendable () async throws -> Void] = [
                {
                    try await client.withSubscription(to: [.all], from: .now) { messages in
                        isLive.open()
                        _ = try await messages.receive(1)
                    }
                },
                {
                    try await isLive.waitUntilOpen()
                    try await client.publish(Counted(number: 1), subject: "one")
                    try await server.kill()
                    while true { try await client.publish(Counted(number: 1), subject: "two") }
                },
            ]
            let codes = try await withThrowingTaskGroup(of: BusError.Code?.self) { group in
                for call in calls {
                    group.addTask {
                        do { try await call() } catch let error as BusError { return error.code }
                        return nil
                    }
                }
                try await client.whileOpen {
                    await isLive.waitUntilOpenOrCancelled()
                    for await change in client.journal.connection.changes() {
                        if case .disconnected = change { break }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // The reader may have received the first message.
            #expect(codes.count == 2)
            #expect(codes.contains(.closed))
            #expect(codes.allSatisfy { $0 == .closed || $0 == nil })
        }
    }

    @Test func `The steward receives each second what the client has seen`() async throws {
        let bus = try await TestBus.make()
        try await bus.withJetStream { jetStream in
            let heartbeat = try await jetStream.connection.withSubscription(
                to: BusSubject.heartbeat.text(in: bus.namespace)
            ) { subscription in
                try await bus.whileOpen { client in
                    let position = try await client.publish(Batch([Counted(number: 1).envelope()]))
                    while true {
                        let heartbeat = try await subscription.heartbeat()
                        if heartbeat.seen >= StreamPosition(offset: position.offset).sequence { return heartbeat }
                    }
                }
            }
            let stream = try await jetStream.stream(bus.names.journal)
            #expect(heartbeat.producer != nil)
            let epoch = stream.metadata["segue-epoch"].flatMap { UInt64($0, radix: 16) }
            #expect(heartbeat.epoch == epoch)
        }
    }

    @Test func `The steward receives a loss only while the stream lacks what the client has seen`() async throws {
        let bus = try await TestBus.make()
        try await bus.withJetStream { jetStream in
            try await jetStream.connection.withSubscription(
                to: BusSubject.heartbeat.text(in: bus.namespace)
            ) { subscription in
                try await bus.whileOpen { client in
                    func waitUntilHeard(lacksLast: Bool) async throws {
                        while try await subscription.heartbeat().lacksLast != lacksLast {}
                    }
                    let journal = client.journal
                    let position = try await client.publish(Batch([Counted(number: 1).envelope()]))
                    let (epoch, sequence) = (position.epoch, StreamPosition(offset: position.offset).sequence)
                    try await waitUntilHeard(lacksLast: false)
                    // As if a leader answered that does not have the newest message yet.
                    journal.see(sequence + 1, of: epoch)
                    await journal.handle(epoch: epoch &+ 1)
                    try await waitUntilHeard(lacksLast: true)
                    try await client.publish(Batch([Counted(number: 2).envelope()]))
                    try await waitUntilHeard(lacksLast: false)
                    // Another message gets the place of one that this client has published.
                    journal.see(published: sequence + 2, id: "lost", of: epoch)
                    journal.see(sequence + 2, of: epoch)
                    await journal.handle(epoch: epoch &+ 1)
                    try await client.publish(Batch([Counted(number: 3).envelope()]))
                    await journal.handle(epoch: epoch &+ 1)
                    #expect(journal.heartbeat(of: client.producer, members: []).lacksLast == true)
                }
            }
        }
    }
}

extension NATSSubscription {
    fileprivate func heartbeat() async throws -> Heartbeat {
        while true {
            if case .message(let message) = try await next() { return try Heartbeat(json: message.body) }
        }
    }
}
