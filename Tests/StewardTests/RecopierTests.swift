import EventBus
import NATS
import NATSLayout
import NATSTestSupport
import Support
import Testing

@testable import Steward

@Suite("The copying of a stream anew", .timeLimit(.minutes(2)))
struct RecopierTests {
    @Test func `waits for a server that is away; what another steward has begun is completed`() async throws {
        try await NATSCluster().whileRunning { cluster in
            let options = NATSOptions(servers: cluster.urls, name: "test")
            let connection = NATSConnection(options)
            try await during({ try await connection.run() }) {
                try await connection.waitForConnection()
                let (jetStream, journal) = (JetStream(connection), "TEST")
                let (notices, writer) = AsyncStream.makeStream(of: BusNotice.self)
                let configuration = StewardConfiguration(namespace: journal, replicas: 3) {
                    writer.yield($0)
                    return nil
                }
                let (roles, roleWriter) = AsyncStream.makeStream(of: Steward.Role.self)
                let steward = { @Sendable in Steward(options, configuration, logger: TestJournal.logger) }
                let first = try await JournalSetup(jetStream, StreamNames(journal), configuration, TestJournal.logger)
                    .journal()
                try await cluster.waitUntilCurrent(StreamNames(journal).all)
                let away = try await cluster.follower(of: journal)
                try await away.kill()
                while try await jetStream.areActive(journal) { try await Task.sleep(for: .milliseconds(50)) }
                try await jetStream.change(journal) { info in
                    info.settings { $0[JournalMetadata.recopyingKey] = Recopying(after: 3).text }
                }
                try await during({ try await steward().run { roleWriter.yield($0) } }) {
                    #expect(await roles.first { _ in true } == .leader(term: 1))
                    // It could act before the server is back.
                    let end = try await jetStream.info(journal).lastSequence
                    while try await jetStream.info(journal).lastSequence < end + 5 {
                        _ = try await jetStream.retrying { try await jetStream.publish("\(journal).m.x", body: [1]) }
                        try await Task.sleep(for: .milliseconds(200))
                    }
                    #expect(try await jetStream.info(journal).followers.count == 2)
                    try await away.restart()
                    #expect(await notices.first { $0.code == .lostEnd } != nil)
                }
                let second = try await jetStream.epochs(ofRestored: journal)
                #expect(second.current != first.current && second.end(of: first.current) ?? 0 >= 3)

                // A steward ends after the stream was given to its leader alone.
                try await cluster.waitUntilCurrent([journal])
                try await jetStream.change(journal) { info in
                    info.settings(replicas: 1) {
                        $0[JournalMetadata.recopyingKey] = Recopying(after: 4, replicas: 3).text
                    }
                }
                try await during({ try await steward().run() }) {
                    #expect(await notices.first { $0.code == .lostEnd } != nil)
                }
                let third = try await jetStream.epochs(ofRestored: journal)
                #expect(third.current != second.current && third.end(of: second.current) == 4)
            }
        }
    }
}

extension NATSCluster {
    /// A server that does not lead a stream.
    fileprivate func follower(of stream: String) async throws -> NATSServer {
        let leader = try await leader(of: stream)
        return try #require(servers.first { $0 !== leader })
    }
}

extension JetStream {
    /// True if no server of a stream is known to be away.
    fileprivate func areActive(_ stream: String) async throws -> Bool {
        try await info(stream).followers.allSatisfy(\.isActive)
    }

    fileprivate func change(_ stream: String, _ settings: (StreamInfo) -> JSONValue) async throws {
        let changed = settings(try await info(stream))
        _ = try await retrying { try await updateStream(changed) }
    }

    /// The epochs of a journal that all servers have again.
    fileprivate func epochs(ofRestored stream: String) async throws -> JournalEpochs {
        let info = try await info(stream)
        #expect(info.followers.count == 2)
        #expect(Recopying(metadata: info.metadata) == nil)
        return try #require(JournalEpochs(metadata: info.metadata))
    }

    fileprivate func info(_ stream: String) async throws -> StreamInfo {
        try await retrying { try await self.stream(stream) }
    }
}
