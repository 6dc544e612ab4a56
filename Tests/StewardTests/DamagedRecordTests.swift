import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Testing

@testable import Steward

@Suite("Steward with damaged records", .timeLimit(.minutes(3)))
struct DamagedRecordTests {
    @Test func `The steward leads, keeps documents, removes old messages, and reports each damaged record once`()
        async throws
    {
        try await TestJournal.run { journal in
            let producer = ProducerID()
            let last = try await journal.publish([message(.document, "D"), message(.event, "E")])
            let fences = Partition.all.map { BusSubject.documentFence($0) }
            let owner = ConsumerPartition("worker", Partition.all[0])
            let damaged: [BusSubject] = [
                .steward, .lease(producer), .group(consumer: "worker"), .fence(owner), .removal,
                .cutOffs(consumer: "worker"), .documentWatermark, .typeTable, .letterFence,
            ]
            for subject in damaged + fences.prefix(3) {
                try await journal.jetStream.publish(journal.text(subject), body: Array("x".utf8))
            }
            let (notices, writer) = AsyncStream.makeStream(of: BusNotice.self)
            var configuration = StewardConfiguration(namespace: "TEST")
            configuration.limits = RetentionLimits(age: .zero, size: nil)
            configuration.describe = {
                writer.yield($0)
                return nil
            }
            let steward = Steward(
                NATSOptions(servers: [journal.server.url], name: "steward"), configuration, logger: TestJournal.logger)
            try await during({ try await steward.run() }) {
                try await journal.waitUntilMark(last)
                try await journal.wait(for: .steward, as: StewardRecord.self) { $0.term == 1 }
                try await journal.wait(for: .lease(producer), as: LeaseRecord.self) { $0.state == .withdrawn }
                var texts: Set<String> = []
                for await notice in notices where notice.code == .damagedRecord {
                    #expect(texts.insert(notice.message).inserted)
                    if texts.count == damaged.count + 3 { break }
                }
            }
            #expect(try await journal.documents().map(\.type.name) == ["D"])
        }
    }
}
