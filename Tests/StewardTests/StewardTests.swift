import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Support
import Synchronization
import Testing

@testable import Steward

@Suite("Steward")
struct StewardTests {
    private static func steward(_ server: NATSServer, _ limits: RetentionLimits = .standard) -> Steward {
        Steward(
            NATSOptions(servers: [server.url], name: "steward"),
            StewardConfiguration(namespace: "TEST", limits: limits), logger: TestJournal.logger)
    }

    /// The roles that a steward reports.
    private static func roles(of steward: Steward) -> (AsyncStream<Steward.Role>, @Sendable () async throws -> Void) {
        let (stream, writer) = AsyncStream.makeStream(of: Steward.Role.self)
        return (stream, { try await steward.run { writer.yield($0) } })
    }

    @Test(
        "The first steward creates the streams and leads, and a second one takes over when it is gone",
        .timeLimit(.minutes(3)))
    func takeOver() async throws {
        try await NATSServer().whileRunning { server in
            let (firstRoles, runFirst) = Self.roles(of: Self.steward(server))
            let (secondRoles, runSecond) = Self.roles(of: Self.steward(server))
            let firstLeads = Latch()
            let runSecondLater: @Sendable () async throws -> Void = {
                try await firstLeads.waitUntilOpen()
                try await runSecond()
            }
            try await during(runSecondLater) {
                let start = ContinuousClock.now
                try await during(runFirst) {
                    for await role in firstRoles {
                        #expect(role == .leader(term: 1))
                        break
                    }
                    #expect(ContinuousClock.now - start < StewardElection.silence)
                    firstLeads.open()
                    for await role in secondRoles {
                        #expect(role == .follower)
                        break
                    }
                }
                for await role in secondRoles {
                    #expect(role == .leader(term: 2))
                    break
                }
            }
        }
    }

    @Test(
        "A steward continues when the servers have removed its record from an oversized journal",
        .timeLimit(.minutes(3)))
    func removedRecord() async throws {
        try await TestJournal.run { journal in
            let (roles, run) = Self.roles(of: Self.steward(journal.server))
            try await during(run) {
                try await journal.waitUntilMark(try await journal.publish([message(.document, data: "1")]))
                let taken = try await journal.last(.steward, as: StewardRecord.self)
                #expect(taken?.term == 1)
                // Another steward was elected. Its term is so high that counting again from 1 would take too long.
                let other = StewardRecord(instance: UUID(), term: 7)
                let last = try await journal.jetStream.lastMessage(of: "TEST", subject: journal.text(.steward))
                try await journal.write(other, to: .steward, after: last?.sequence ?? 0)
                for await role in roles where role == .leader(term: 8) { break }
                try await journal.waitUntilMark(try await journal.publish([message(.document, data: "2")]))
                try await journal.jetStream.purge("TEST", filter: journal.text(.steward))
                try await journal.connection.withSubscription(to: journal.text(.alive)) { announcements in
                    // After each announcement the leader looks for its record.
                    for _ in 0..<3 {
                        guard case .message(let message) = try await announcements.next() else {
                            throw Unexpected(description: "an announcement is missing")
                        }
                        #expect(try StewardRecord(json: message.body).term == 8)
                    }
                }
                try await journal.waitUntilMark(try await journal.publish([message(.document, data: "3")]))
            }
            let (nextRoles, runNext) = Self.roles(of: Self.steward(journal.server))
            try await during(runNext) {
                for await role in nextRoles where role == .leader(term: 9) { break }
                try await journal.waitUntilMark(try await journal.publish([message(.document, data: "4")]))
            }
            #expect(try await journal.documents().map(\.data) == [Data("4".utf8)])
        }
    }

    @Test("A steward ends with the setting to change when a server cannot be used", .timeLimit(.minutes(3)))
    func unusableServer() async throws {
        try await TestJournal.run { journal in
            let (roles, run) = Self.roles(of: Self.steward(journal.server))
            let error = await #expect(throws: BusError.self) {
                try await during(run) {
                    for await role in roles where role == .leader(term: 1) { break }
                    try await journal.server.kill()
                    journal.server.change(settings: "max_payload: 128KB")
                    try await journal.server.restart()
                    for await _ in roles {}
                    try await Task.sleep(for: .seconds(40))
                }
            }
            #expect(error?.code == .address)
            #expect(error?.message.contains("set max_payload: 9MB") == true)
        }
    }

    @Test("A journal that has lost its end gets another epoch, and its documents are kept", .timeLimit(.minutes(3)))
    func lostEnd() async throws {
        try await TestJournal.run { journal in
            let end = try await journal.publish([message(.document, data: "1")])
            let notices = Mutex<[BusNotice]>([])
            let configuration = StewardConfiguration(namespace: "TEST") { notice in
                notices.withLock { $0.append(notice) }
                return nil
            }
            let steward = Steward(
                NATSOptions(servers: [journal.server.url], name: "steward"), configuration, logger: TestJournal.logger)
            let (roles, run) = Self.roles(of: steward)
            try await during(run) {
                try await journal.waitUntilMark(end)
                let heartbeat = Heartbeat(
                    producer: ProducerID(), members: [], seen: UInt64(end) + 1000, epoch: journal.journal.current)
                _ = try await journal.jetStream.retrying {
                    try await journal.connection.request(
                        journal.text(.heartbeat), body: try heartbeat.json(), timeout: .seconds(2))
                }
                try await journal.wait(for: .documentWatermark, in: "TEST_DOC", as: WatermarkRecord.self) {
                    $0.epoch != journal.journal.current
                }
                var count = 0
                for await role in roles {
                    #expect(role == .leader(term: 1))
                    count += 1
                    if count == 2 { break }
                }
            }
            let configured = JournalSetup(
                journal.jetStream, names: journal.names, configuration: configuration, logger: TestJournal.logger)
            let changed = try await configured.journal()
            #expect(changed.end(of: journal.journal.current) == UInt64(end) + 1)
            #expect(changed.current != journal.journal.current)
            let other = TestJournal(
                server: journal.server, jetStream: journal.jetStream, names: journal.names, journal: changed)
            #expect(try await other.documents().map(\.data) == [Data("1".utf8)])
            #expect(notices.withLock(\.self).map(\.code) == [.lostEnd])
        }
    }

    @Test("A steward continues after the server was killed", .timeLimit(.minutes(3)))
    func serverKilled() async throws {
        try await TestJournal.run { journal in
            let (roles, run) = Self.roles(of: Self.steward(journal.server))
            try await during(run) {
                let first = try await journal.publish([message(.document, data: "1")])
                try await journal.waitUntilMark(first)
                try await journal.server.restart()
                let second = try await journal.jetStream.retrying {
                    try await journal.publish([message(.document, data: "2")])
                }
                try await journal.waitUntilMark(second)
                for await role in roles {
                    #expect(role == .leader(term: 1))
                    break
                }
            }
            #expect(try await journal.documents().map(\.data) == [Data("2".utf8)])
        }
    }

    @Test("A steward continues when the server that leads its streams is killed", .timeLimit(.minutes(2)))
    func leaderKilled() async throws {
        try await NATSCluster().whileRunning { cluster in
            let options = NATSOptions(servers: cluster.urls, name: "test")
            let steward = Steward(
                options, StewardConfiguration(namespace: "TEST", replicas: 3), logger: TestJournal.logger)
            let (roles, run) = Self.roles(of: steward)
            let connection = NATSConnection(options)
            try await during({ try await connection.run() }) {
                try await during(run) {
                    for await role in roles {
                        #expect(role == .leader(term: 1))
                        break
                    }
                    let jetStream = JetStream(connection)
                    let info = try await jetStream.retrying { try await jetStream.stream("TEST") }
                    let journal = TestJournal(
                        server: cluster.servers[0], jetStream: jetStream, names: StreamNames("TEST"),
                        journal: try #require(JournalEpochs(metadata: info.metadata)))
                    let first = try await jetStream.retrying {
                        try await journal.publish([message(.document, data: "1")])
                    }
                    try await journal.waitUntilMark(first)
                    for stream in ["TEST", "TEST_DOC"] {
                        let leader = try await jetStream.retrying { try await jetStream.stream(stream).leader }
                        let server = try #require(cluster.server(named: leader))
                        try await server.restart()
                        let last = try await jetStream.retrying {
                            try await journal.publish([message(.document, data: "\"\(stream)\"")])
                        }
                        try await journal.waitUntilMark(last)
                    }
                    #expect(try await journal.projected().map(\.data) == [Data("\"TEST_DOC\"".utf8)])
                }
            }
        }
    }

    @Test(
        "A steward reads everything, also on a server that has just returned with an empty disk",
        .timeLimit(.minutes(2)))
    func laggingServer() async throws {
        try await NATSCluster().whileRunning { cluster in
            let connection = NATSConnection(NATSOptions(servers: cluster.urls, name: "test"))
            try await during({ try await connection.run() }) {
                let jetStream = JetStream(connection, timeout: .seconds(2))
                try await connection.waitForConnection()
                _ = try await jetStream.retrying {
                    try await jetStream.createStream([
                        "name": "S", "subjects": ["s.>"], "storage": "file", "num_replicas": 3,
                    ])
                }
                for number in 1...100 {
                    _ = try await jetStream.retrying {
                        try await jetStream.publish("s.\(number % 2)", body: [1], id: "\(number)")
                    }
                }
                for _ in 0..<2 {
                    let leader = try await cluster.leader(of: "S")
                    let server = try #require(cluster.servers.first { $0 !== leader })
                    try await server.kill()
                    try server.removeStore()
                    try await server.restart()
                    // Each consumer is on any of the servers.
                    for _ in 0..<9 {
                        var sequences: [Int] = []
                        try await jetStream.readAll(of: "S", ConsumerSettings(filters: ["s.1"])) {
                            sequences.append($0.streamSequence)
                        }
                        #expect(sequences == Array(stride(from: 1, through: 99, by: 2)))
                    }
                }
            }
        }
    }

    @Test(
        "Unsuitable servers are refused with a remedy", .timeLimit(.minutes(3)),
        arguments: [
            ("max_payload: 128KB", 1, "set max_payload: 9MB"), ("", 3, "use a smaller --replicas"),
            ("jetstream: false", 1, "write jetstream {}"),
        ])
    func unusable(settings: String, replicas: Int, advice: String) async throws {
        try await NATSServer(settings: settings).whileRunning { server in
            let steward = Steward(
                NATSOptions(servers: [server.url], name: "steward"),
                StewardConfiguration(namespace: "TEST", replicas: replicas), logger: TestJournal.logger)
            let error = await #expect(throws: BusError.self) { try await steward.run() }
            #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A server with room for the journal twice, but not for the rest, is refused", .timeLimit(.minutes(3)))
    func tooLittleRoom() async throws {
        let limits = RetentionLimits(age: nil, size: 64 << 20)
        try await NATSServer(maximumStore: "190MB").whileRunning { server in
            let error = await #expect(throws: BusError.self) { try await Self.steward(server, limits).run() }
            for words in ["64 MiB, 192 MiB in all", "use a smaller --retain-size"] {
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
        }
        // What is reserved at first is free afterwards.
        try await NATSServer(maximumStore: "192MB").whileRunning { server in
            let (roles, run) = Self.roles(of: Self.steward(server, limits))
            try await during(run) {
                for await role in roles {
                    #expect(role == .leader(term: 1))
                    break
                }
            }
            let info = try await JetStream.whileConnected(NATSOptions(servers: [server.url], name: "test")) {
                try await $0.stream("TEST_DEAD")
            }
            #expect(info.settings["max_bytes"]?.integerValue == -1)
        }
    }

    @Test("A stream that is not the journal of a bus is refused", .timeLimit(.minutes(3)))
    func strangeStream() async throws {
        try await NATSServer().whileRunning { server in
            let connection = NATSConnection(NATSOptions(servers: [server.url], name: "test"))
            try await during({ try await connection.run() }) {
                try await connection.waitUntilConnected(timeout: .seconds(30))
                _ = try await JetStream(connection).createStream([
                    "name": "TEST", "subjects": ["TEST.m.>", "TEST.k.>"],
                ])
                let error = await #expect(throws: BusError.self) { try await Self.steward(server).run() }
                #expect(error?.message.contains("choose another namespace") == true, "\(error?.message ?? "")")
            }
        }
    }
}
