import BusConformance
import EventBus
import NATS
import NATSEventBus
import NATSLayout
import NATSTestSupport
import Steward
import Support
import Testing

@Suite("NATS bus: cluster", .timeLimit(.minutes(3)))
struct ClusterTests {
    @Test func `The end of the leader of three servers causes no loss, no duplicate and no wrong order`() async throws {
        let count = 300
        try await NATSCluster().whileRunning { cluster in
            let hosts = cluster.servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
            let options = NATSOptions(servers: cluster.urls, name: "test")
            try await JetStream.whileConnected(options) { jetStream in
                // The servers first elect a leader of their own.
                while true {
                    do {
                        try await JournalStreams(replicas: 3).make(StreamNames("N"), on: jetStream)
                        break
                    } catch {
                        try await Task.sleep(for: .milliseconds(200))
                    }
                }
                @Sendable func bus(_ source: String) throws -> NATSEventBus {
                    try NATSEventBus(address: "nats://\(hosts)/N", source: source, logger: .quiet)
                }
                let (reader, publisher) = (try bus("test/reader"), try bus("test/publisher"))
                try await reader.whileOpen {
                    try await publisher.whileOpen {
                        try await reader.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                            let third = Latch()
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for subject in 0..<4 {
                                    group.addTask {
                                        for number in 0..<count {
                                            try await publisher.publish(
                                                Counted(number: number), subject: "session-\(subject)")
                                            if number == count / 3 { third.open() }
                                        }
                                    }
                                }
                                group.addTask {
                                    await third.waitUntilOpenOrCancelled()
                                    let leader = try await jetStream.stream("N").leader
                                    let server = try #require(cluster.server(named: leader))
                                    try await server.kill()
                                    try await server.restart()
                                }
                                try await group.waitForAll()
                            }
                            let received = try await messages.receive(4 * count)
                            for (_, messages) in Dictionary(grouping: received, by: \.subject) {
                                #expect(try messages.numbers == Array(0..<count))
                            }
                        }
                    }
                }
            }
        }
    }
}
