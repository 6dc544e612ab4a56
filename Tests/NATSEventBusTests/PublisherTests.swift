import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Sodium
import Support
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("NATS bus: publishing", .sharedServer, .timeLimit(.minutes(2)))
struct PublisherTests {
    @Test func `Batches that wait are published together, and each caller gets its own position`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let positions = try await withThrowingTaskGroup(of: (Int, Position?).self) { group in
                for number in 0..<500 {
                    group.addTask { (number, try await client.publish(Counted(number: number)).position) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let received = try await client.withSubscription(to: [.all], from: .beginning) { try await $0.receive(500) }
            #expect(Set(received.map(\.position)).count == 500)
            for message in received {
                #expect(message.position == positions[try message.decode(Counted.self).number])
            }
            let count = try await bus.withJetStream { try await $0.stream(bus.names.journal).messageCount }
            #expect(count < 500)
        }
    }

    @Test func `A restart of the server causes no loss, no duplicate and no wrong order`() async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await bus.whileOpen("test/reader") { reader in
                try await reader.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    let half = Latch()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            try await bus.whileOpen("test/publisher") { publisher in
                                for number in 0..<400 {
                                    try await publisher.publish(Counted(number: number))
                                    if number == 150 { half.open() }
                                }
                            }
                        }
                        group.addTask {
                            await half.waitUntilOpenOrCancelled()
                            try await server.kill()
                            try await server.restart()
                        }
                        try await group.waitForAll()
                    }
                    #expect(try await messages.receive(400).numbers == Array(0..<400))
                }
            }
        }
    }

    @Test func `A message without the right to publish it is refused at once`() async throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let nkeys = (0..<2).map { _ in NKey() }
        let users = nkeys.map(\.publicKey)
        for (nkey, file) in zip(nkeys, ["admin.nk", "user.nk"]) {
            try nkey.seed.write(toFile: folder.path(file), atomically: true, encoding: .utf8)
        }
        let settings = """
            authorization { users: [
              { nkey: \(users[0]) },
              { nkey: \(users[1]), permissions: {
                publish: ["$JS.API.>", "$SYS.REQ.USER.INFO", "_INBOX.>", "N.hb", "N.m.-.-.event.Counted.>"], subscribe: [">"]
              } }
            ] }
            """
        try await NATSServer(settings: settings).whileRunning { server in
            var options = NATSOptions(servers: [server.url], name: "admin")
            options.nkeyFile = folder.path("admin.nk")
            try await makeStreams("N", options)
            let bus = try NATSEventBus(
                address: "\(server.url)/N", source: "test/1", logger: .silent,
                variables: ["SEGUE_BUS_NKEY": folder.path("user.nk")])
            try await bus.whileOpen {
                try await bus.publish(Counted(number: 1))
                let error = await #expect(throws: BusError.self) { try await bus.publish(State(value: "1")) }
                #expect(error?.code == .forbidden)
                #expect(error?.message.contains("N.m.-.-.document.State") == true)
                try await bus.publish(Counted(number: 2))
            }
        }
    }

    @Test func `A caller that is cancelled while no server answers gives up`() async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await bus.whileOpen { client in
                try await client.publish(Counted(number: 0))
                try await server.kill()
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await client.publish(Counted(number: 1), subject: "cancelled") }
                    while client.publisher.callCount == 0 { await Task.yield() }
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
                #expect(client.publisher.callCount == 0)
                async let published = client.publish(Counted(number: 2), subject: "kept")
                try await server.restart()
                let position = try await published.position
                // What was sent before the cancellation is sent until it is answered, perhaps after this batch.
                let end = try await client.end()
                #expect(end.offset >= position?.offset ?? .max)
            }
        }
    }

    @Test func `A larger batch is published after the server was restarted with a larger max_payload`() async throws {
        try await NATSServer(settings: "max_payload: 512KB").whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await bus.whileOpen { client in
                let large = try Batch([State(value: String(repeating: "v", count: 600 << 10)).envelope()])
                let error = await #expect(throws: BusError.self) { try await client.publish(large) }
                #expect(error?.message.contains("set max_payload: 9MB") == true)
                try await server.kill()
                server.change(settings: "max_payload: 9MB")
                try await server.restart()
                for await change in client.journal.connection.changes() {
                    if case .connected(let info) = change, info.maximumPayload == 9 << 20 { break }
                }
                try await client.waitUntilConnected(timeout: .seconds(30))
                _ = try await client.publish(large)
            }
        }
    }

    @Test func `A message is found by its id, after the sequence where the search begins`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let positions = try await [1, 2, 3].asyncMap { try await client.publish(Counted(number: $0)).position }
            let sequences = positions.map { StreamPosition(offset: $0?.offset ?? 0).sequence }
            let epoch = try await client.journal.identity().epoch
            let id = BatchID.batch(client.producer, number: 2).description
            #expect(try await client.journal.sequence(ofMessage: id, after: 0, in: epoch) == sequences[1])
            #expect(try await client.journal.sequence(ofMessage: id, after: sequences[0], in: epoch) == sequences[1])
            #expect(try await client.journal.sequence(ofMessage: id, after: sequences[1], in: epoch) == nil)
            let other = BatchID.batch(ProducerID(), number: 2).description
            #expect(try await client.journal.sequence(ofMessage: other, after: 0, in: epoch) == nil)
        }
    }

    /// The server is stopped while it has the message in its socket. It stores the message when it continues; by then
    /// its id is forgotten, so that the next copy would be a second message.
    @Test func `A message whose acknowledgement is lost is searched for and not stored twice`() async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await bus.withJetStream { jetStream in
                var settings = try #require(try await jetStream.stream(bus.names.journal).settings.objectValue)
                settings["duplicate_window"] = 100_000_000
                _ = try await jetStream.updateStream(.object(settings))
            }
            try await bus.whileOpen { client in
                try await client.waitUntilConnected(timeout: .seconds(30))
                var configuration = Lanes.Configuration()
                configuration.resendingWindow = .zero
                // Much longer than the stream remembers ids.
                configuration.firstPause = .seconds(1)
                let publisher = Publisher(
                    client.journal, producer: ProducerID(), configuration: configuration, logger: .silent)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await publisher.run() }
                    server.pause()
                    async let recorded = publisher.publish {
                        try Publication(Batch([Counted(number: 1).envelope()]))
                    }
                    // The first copy gets no answer in its 2 seconds, and is stored during the pause.
                    while !publisher.isPausing { try await Task.sleep(for: .milliseconds(10)) }
                    server.resume()
                    let sequence = try await recorded.sequence
                    group.cancelAll()
                    let stream = try await client.journal.jetStream.stream(bus.names.journal)
                    #expect(stream.messageCount == 1)
                    #expect(stream.lastSequence == Int(sequence))
                }
            }
        }
    }
}

extension Message {
    func envelope(_ subject: String = Session.default) throws -> Envelope {
        try Envelope(self, source: "test/1", subject: subject)
    }
}

extension Sequence {
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
