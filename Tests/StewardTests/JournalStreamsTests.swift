import EventBus
import NATS
import NATSLayout
import NATSTestSupport
import Support
import Testing

@testable import Steward

@Suite("Streams of a bus on NATS")
struct JournalStreamsTests {
    @Test("The streams are created once, and the journal keeps its epoch", .timeLimit(.minutes(3)))
    func make() async throws {
        try await NATSServer().whileRunning { server in
            let connection = NATSConnection(NATSOptions(servers: [server.url], name: "test"))
            try await withThrowingTaskGroup { group in
                group.addTask { try await connection.run() }
                defer { group.cancelAll() }
                _ = try await connection.waitUntilConnected(timeout: .seconds(20))
                let jetStream = JetStream(connection)
                let names = StreamNames("TEST")
                let first = try await JournalStreams().make(names, on: jetStream)
                let second = try await JournalStreams().make(names, on: jetStream)
                #expect(first.metadata[JournalMetadata.epochKey]?.count == 16)
                #expect(first.metadata[JournalMetadata.epochKey] == second.metadata[JournalMetadata.epochKey])
                for name in ["TEST", "TEST_DOC", "TEST_DEAD"] { _ = try await jetStream.stream(name) }
            }
        }
    }

    @Test("The streams get a higher size limit, and never a lower one", .timeLimit(.minutes(3)))
    func adapt() async throws {
        try await NATSServer().whileRunning { server in
            let connection = NATSConnection(NATSOptions(servers: [server.url], name: "test"))
            try await during({ try await connection.run() }) {
                try await connection.waitUntilConnected(timeout: .seconds(20))
                var sizes: [Int?] = []
                for size in [1 << 24, 1 << 20, 1 << 25, nil, 1 << 20] {
                    let info = try await JournalStreams(maximumSize: size).make(
                        StreamNames("TEST"), on: JetStream(connection))
                    sizes.append(info.settings["max_bytes"]?.integerValue)
                }
                #expect(sizes == [1 << 24, 1 << 24, 1 << 25, -1, -1])
            }
        }
    }
}
