import BusSoak
import NATS
import NATSLayout
import NATSTestSupport
import Testing

@Suite("NATS faults: servers that have lost the end of the journal", .serialized, .timeLimit(.minutes(10)))
struct LostEndTests {
    @Test func `All clients continue in a new epoch after the only server got an older copy of its store`() async throws
    {
        try await FaultScene.run(.olderCopies, on: NATSCluster(single: NATSServer()))
    }

    @Test func `All clients continue in a new epoch after all three servers got older copies of their stores`()
        async throws
    {
        try await FaultScene.run(.olderCopies)
    }

    @Test func `The third server is reported until it is repaired after the others got older copies of their stores`()
        async throws
    {
        try await Arena.with(try NATSCluster()) { arena in
            let scene = try await FaultScene(in: arena, pause: FaultScene.pause)
            let (old, third) = (Array(scene.servers.prefix(2)), scene.servers[2])
            _ = try await scene.putBackCopies(of: old) { for server in old { try await server.restart() } }
            try await third.restart()
            // The server may also give up its messages and copy those of the others, or never catch up.
            let reports = [
                "server \(third.name) has other messages of \(FaultScene.journal)",
                "server \(third.name) has not come nearer to the leader of \(FaultScene.journal)",
            ]
            let cluster = try scene.cluster()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await arena.until("a steward reports the third server", deadline: .seconds(300)) { _ in
                        scene.stewards.contains { steward in
                            reports.contains { arena.log(of: steward.name).contains($0) }
                        }
                    }
                }
                group.addTask { try await cluster.waitUntilEqual(FaultScene.journal) }
                defer { group.cancelAll() }
                try await group.next()
            }
            try await third.kill()
            try third.removeStore()
            try await third.restart()
            try await arena.within(.seconds(90), "the servers have different messages") {
                for stream in StreamNames(FaultScene.journal).all { try await cluster.waitUntilEqual(stream) }
            }
            try await scene.waitUntilWorking("after the third server was repaired")
        }
    }
}

extension NATSCluster {
    /// Waits until every server has the messages of a stream that its leader has.
    fileprivate func waitUntilEqual(_ stream: String) async throws {
        while try await !isEqual(stream) { try await Task.sleep(for: .milliseconds(200)) }
    }

    private func isEqual(_ stream: String) async throws -> Bool {
        let leader = try await leader(of: stream)
        return try await JetStream.whileConnected(NATSOptions(servers: urls, name: "test")) { jetStream in
            guard let expected = try await jetStream.times(of: stream, on: leader.name) else { return false }
            for server in self.servers where server !== leader {
                guard let times = try await jetStream.times(of: stream, on: server.name) else { return false }
                if times.keys.max() ?? 0 < expected.keys.max() ?? 0 { return false }
                if expected.contains(where: { times[$0.key] ?? $0.value != $0.value }) { return false }
            }
            return true
        }
    }
}

extension JetStream {
    /// The times of the messages that a server has, by their sequences. Nil if the server does not serve the stream
    /// now.
    fileprivate func times(of stream: String, on server: String) async throws -> [Int: Int64]? {
        do {
            return try await withConsumer(of: stream, ConsumerSettings(headersOnly: true), on: { $0 == server }) {
                var times: [Int: Int64] = [:]
                var pending = $0.initialPending
                while pending > 0, case .message(let delivered) = try await $0.next() {
                    times[delivered.streamSequence] = delivered.time
                    pending = delivered.pending
                }
                return times
            }
        } catch let error where error.passes {
            return nil
        }
    }
}
