import NATS
import NATSTestSupport
import Support
import Testing

@Suite(.timeLimit(.minutes(4)))
struct ClusterTests {
    private static let settings: JSONValue = [
        "name": "S", "subjects": ["s.>"], "storage": "file", "num_replicas": 3, "allow_direct": true,
    ]

    @Test func `Publishing continues after a kill of a stream's leader, without a loss or a duplicate`()
        async throws
    {
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(NATSOptions(servers: cluster.urls, name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection, timeout: .seconds(2))
                _ = try await waitUntilItWorks { try await jetStream.createStream(Self.settings) }
                func publish(_ number: Int) async throws {
                    let body = Array("\(number)".utf8)
                    _ = try await waitUntilItWorks { try await jetStream.publish("s.a", body: body, id: "\(number)") }
                }
                for number in 0..<50 { try await publish(number) }
                let leader = try await waitUntilItWorks { try await jetStream.stream("S").leader }
                try await #require(cluster.server(named: leader)).kill()
                for number in 50..<100 { try await publish(number) }
                let next = try await waitUntilItWorks { try await jetStream.stream("S").leader }
                #expect(next != leader)
                let bodies = try await waitUntilItWorks {
                    try await jetStream.withConsumer(of: "S", ConsumerSettings()) { consumer in
                        var bodies: [[UInt8]] = []
                        for _ in 0..<100 { bodies.append(try await consumer.nextMessage().message.body) }
                        return bodies
                    }
                }
                #expect(bodies == (0..<100).map { Array("\($0)".utf8) })
                #expect(try await jetStream.stream("S").lastSequence == 100)
            }
        }
    }

    @Test func `A server that has returned with an empty disk does not describe the stream`() async throws {
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(NATSOptions(servers: cluster.urls, name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection, timeout: .seconds(2))
                _ = try await waitUntilItWorks { try await jetStream.createStream(Self.settings) }
                for number in 1...50 {
                    _ = try await waitUntilItWorks { try await jetStream.publish("s.a", body: [1], id: "\(number)") }
                }
            }
            let leader = try await cluster.leader(of: "S")
            try await leader.kill()
            try leader.removeStore()
            try await leader.restart()
            try await withConnection(NATSOptions(servers: [leader.url], name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection, timeout: .milliseconds(500))
                #expect(try await waitUntilItWorks { try await jetStream.stream("S").lastSequence } == 50)
                #expect(
                    try await waitUntilItWorks { try await jetStream.subjects(of: "S", matching: ">") } == ["s.a": 50])
            }
        }
    }

    @Test func `A restarted server has another id, and an absent one has none`() async throws {
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(NATSOptions(servers: [cluster.servers[0].url], name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let names = Set(cluster.servers.map(\.name))
                func runs(of names: Set<String>) async throws -> [String: String] {
                    while true {
                        let runs = try await connection.serverRuns(including: names)
                        if names.isSubset(of: runs.keys) { return runs }
                    }
                }
                let first = try await runs(of: names)
                #expect(try await runs(of: names) == first)
                let killed = cluster.servers[2]
                try await killed.kill()
                let others = try await runs(of: names.subtracting([killed.name]))
                #expect(others == first.filter { $0.key != killed.name })
                try await killed.restart()
                let second = try await runs(of: names)
                #expect(second.filter { first[$0.key] != $0.value }.map(\.key) == [killed.name])
            }
        }
    }

    @Test func `A reader gets every message from the other servers if one has lost some to a flipped bit`()
        async throws
    {
        let count = 120
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(NATSOptions(servers: cluster.urls, name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection, timeout: .seconds(2))
                _ = try await waitUntilItWorks { try await jetStream.createStream(Self.settings) }
                for number in 1...count {
                    // A file of the server has 8 MiB, and the last one is read again from the leader.
                    let body = [UInt8](repeating: UInt8(number), count: 100_000)
                    _ = try await waitUntilItWorks { try await jetStream.publish("s.\(number % 3)", body: body) }
                }
                let damaged = try #require(cluster.server(named: try await jetStream.stream("S").followers.first?.name))
                try await damaged.kill()
                try damaged.flipBit(inMessagesOf: "S")
                try await damaged.restart()
                try await cluster.waitUntilCurrent(["S"])
                let missing = try await waitUntilItWorks {
                    try await jetStream.missing(count, in: "S", on: damaged.name)
                }
                #expect(try #require(missing) > 10)

                for _ in 0..<6 {
                    var (sequences, settings) = ([Int](), ConsumerSettings(filters: ["s.0", "s.2"]))
                    while sequences.last ?? 0 < count {
                        _ = try await waitUntilItWorks {
                            try await jetStream.withConsumer(of: "S", settings) { consumer in
                                while sequences.last ?? 0 < count {
                                    let sequence = try await consumer.nextMessage().streamSequence
                                    sequences.append(sequence)
                                    settings.start = .sequence(sequence + 1)
                                }
                            }
                        }
                    }
                    #expect(sequences == (1...count).filter { $0 % 3 != 1 })
                }
            }
        }
    }

    @Test func `A message that is sent again while it is being stored is stored once`() async throws {
        try await NATSCluster().whileRunning { cluster in
            try await withConnection(NATSOptions(servers: cluster.urls, name: "test")) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let stream = JetStream(connection, timeout: .seconds(2))
                _ = try await waitUntilItWorks { try await stream.createStream(Self.settings) }
                let name = try await waitUntilItWorks { try await stream.stream("S").leader }
                let leader = try #require(cluster.server(named: name))
                try await withConnection(NATSOptions(servers: [leader.url], name: "test")) { connection in
                    try await connection.waitUntilConnected(timeout: .seconds(30))
                    let jetStream = JetStream(connection, timeout: .milliseconds(500))
                    _ = try await waitUntilItWorks { try await jetStream.publish("s.a", body: [1], id: "1") }
                    let followers = cluster.servers.filter { $0 !== leader }
                    for follower in followers { follower.pause() }
                    // The leader waits for the other replicas.
                    let first = try await failure { try await jetStream.publish("s.a", body: [2], id: "2") }
                    #expect(first == .timeout)
                    let second = try await refusal { try await jetStream.publish("s.a", body: [2], id: "2") }
                    #expect(second == .messageIDUnderWay)
                    for follower in followers { follower.resume() }
                    _ = try await waitUntilItWorks { try await jetStream.publish("s.a", body: [2], id: "2") }
                    #expect(try await waitUntilItWorks { try await jetStream.stream("S").lastSequence } == 2)
                }
            }
        }
    }
}

extension JetStream {
    /// The number of messages, of the first `count` ones, that a server does not deliver.
    fileprivate func missing(_ count: Int, in stream: String, on server: String) async throws -> Int? {
        let settings = ConsumerSettings(headersOnly: true)
        return try await withConsumer(of: stream, settings, on: { $0 == server }) { consumer in
            var received = 0
            while true {
                guard case .message(let message) = try await consumer.next() else { continue }
                received += 1
                if message.streamSequence == count { return count - received }
            }
        }
    }
}
