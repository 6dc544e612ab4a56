import BusConformance
import EventBus
import NATS
import NATSEventBus
import NATSTestSupport
import Support
import TestSupport
import Testing

@Suite("NATS bus: cluster", .timeLimit(.minutes(3)))
struct ClusterTests {
    private static let namespace = "N"
    private static let sessions = (0..<4).map { "session-\($0)" }
    /// The number of messages of each session.
    private static let count = 300

    @Test func `The end of the leader of three servers causes no loss, no duplicate and no wrong order`() async throws {
        try await NATSCluster().whileRunning { cluster in
            try await makeStreams(Self.namespace, NATSOptions(servers: cluster.urls, name: "test"), replicas: 3)
            let received = try await Self.messages(of: cluster)
            for session in Self.sessions {
                #expect(try received.filter { $0.subject == session }.numbers == Array(0..<Self.count))
            }
        }
    }

    /// Publishes messages while the leader ends, and returns those that a subscription receives.
    private static func messages(of cluster: NATSCluster) async throws -> [Envelope] {
        let (reader, publisher) = (try bus("test/reader", on: cluster), try bus("test/publisher", on: cluster))
        return try await reader.whileOpen {
            try await reader.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                try await publisher.whileOpen { try await publish(with: publisher, on: cluster) }
                return try await messages.receive(count * sessions.count)
            }
        }
    }

    /// Publishes in all sessions at the same time. After a third of the messages, the leader is killed and restarted.
    private static func publish(with bus: NATSEventBus, on cluster: NATSCluster) async throws {
        let third = Latch()
        try await withThrowingDiscardingTaskGroup { group in
            for session in sessions {
                group.addTask {
                    for number in 0..<count {
                        try await bus.publish(Counted(number: number), subject: session)
                        if number == count / 3 { third.open() }
                    }
                }
            }
            group.addTask {
                try await third.waitUntilOpen()
                let leader = try await cluster.leader(of: namespace)
                try await leader.kill()
                try await leader.restart()
            }
        }
    }

    private static func bus(_ source: String, on cluster: NATSCluster) throws -> NATSEventBus {
        let hosts = cluster.servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return try NATSEventBus(address: "nats://\(hosts)/\(namespace)", source: source, logger: .silent)
    }
}
