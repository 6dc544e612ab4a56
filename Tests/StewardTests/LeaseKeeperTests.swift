import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Testing

@testable import Steward

@Suite("Leases of clients")
struct LeaseKeeperTests {
    /// Runs the projection and the leases of a steward while `body` runs.
    @discardableResult
    private static func keep<Result: Sendable>(
        _ journal: TestJournal, term: UInt64 = 1,
        notices configuration: StewardConfiguration = StewardConfiguration(namespace: "TEST"),
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let projection = Projection(
            journal.jetStream, names: journal.names, epochs: journal.journal, notices: journal.notices,
            steward: StewardRecord(instance: UUID(), term: term), logger: TestJournal.logger)
        let notices = StewardNotices(
            journal.jetStream, names: journal.names, configuration: configuration, logger: TestJournal.logger)
        let keeper = LeaseKeeper(
            journal.jetStream, names: journal.names, epochs: journal.journal, source: "broker/1",
            projection: projection,
            notices: notices, logger: TestJournal.logger)
        return try await during({ try await projection.run() }) {
            try await during({ try await notices.run() }) {
                try await during({ try await keeper.run() }, body)
            }
        }
    }

    private static func heartbeat(
        _ journal: TestJournal, _ producer: ProducerID, _ members: [Heartbeat.Member] = []
    ) async throws -> HeartbeatReply {
        let heartbeat = Heartbeat(producer: producer, members: members, seen: 0, epoch: journal.journal.current)
        let reply = try await journal.jetStream.retrying {
            try await journal.connection.request(
                journal.text(.heartbeat), body: try heartbeat.json(), timeout: .seconds(2))
        }
        return try HeartbeatReply(json: reply.body)
    }

    /// Sends heartbeats until the task is cancelled.
    private static func beat(
        _ journal: TestJournal, _ producer: ProducerID, _ members: [Heartbeat.Member] = []
    ) async throws {
        while true {
            _ = try await heartbeat(journal, producer, members)
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func hold(_ journal: TestJournal, _ producer: ProducerID, documents: [Envelope]) async throws -> Int
    {
        let held = try await journal.write(LeaseRecord(.held), to: .lease(producer))
        try await journal.publish(
            documents, lease: producer, expecting: LastSequence(held, of: journal.text(.lease(producer))))
        return held
    }

    @Test("A silent client's lease ends, and only its documents are withdrawn", .timeLimit(.minutes(3)))
    func silent() async throws {
        try await TestJournal.run { journal in
            let (silent, alive) = (ProducerID(), ProducerID())
            let documents = (0..<3).map { message(.document, "Presence", key: "\($0)") }
            let held = try await Self.hold(journal, silent, documents: documents)
            _ = try await Self.hold(journal, alive, documents: [message(.document, "Presence", key: "alive")])
            // A document that another client has published since is not leased any more.
            try await journal.publish([message(.document, "Presence", key: "0", data: "2")])
            let seen = try await Self.keep(journal) {
                try await during({ try await Self.beat(journal, alive) }) {
                    let first = try await Self.heartbeat(journal, silent)
                    try await journal.wait(for: .lease(silent), as: LeaseRecord.self) { $0.state == .withdrawn }
                    return first
                }
            }
            #expect(seen.epoch == journal.journal.current)
            #expect(try await journal.folded().map(\.attributes.key).sorted { $0 ?? "" < $1 ?? "" } == ["0", "alive"])
            #expect(try await journal.documents() == journal.folded())
            #expect(try await journal.last(.lease(alive), as: LeaseRecord.self)?.state == .held)
            // What the silent client publishes late is refused.
            await #expect(throws: JetStreamError.self) {
                try await journal.publish(
                    documents, lease: silent, expecting: LastSequence(held, of: journal.text(.lease(silent))))
            }
        }
    }

    @Test("The problem of a member is reported once on the bus", .timeLimit(.minutes(3)))
    func problem() async throws {
        try await TestJournal.run { journal in
            let producer = ProducerID()
            let member = Heartbeat.Member(
                consumer: "worker", id: UUID(), isExclusive: false, problem: "has had no valid claim for 12 s")
            let notices = AsyncStream.makeStream(of: BusNotice.self)
            let configuration = StewardConfiguration(namespace: "TEST") { notice in
                notices.continuation.yield(notice)
                return nil
            }
            try await Self.keep(journal, notices: configuration) {
                for _ in 0..<2 { _ = try await Self.heartbeat(journal, producer, [member]) }
                let healed = Heartbeat.Member(consumer: "worker", id: member.id, isExclusive: false)
                _ = try await Self.heartbeat(journal, producer, [healed])
                _ = try await Self.heartbeat(journal, producer, [member])
                var texts: [String] = []
                for await notice in notices.stream {
                    #expect(notice.code == .consumerStalled)
                    texts.append(notice.message)
                    if texts.count == 2 { break }
                }
                #expect(texts.allSatisfy { $0 == "the durable consumer 'worker' has had no valid claim for 12 s" })
            }
        }
    }

    @Test("A lease that an earlier steward has revoked is completed", .timeLimit(.minutes(3)))
    func revoked() async throws {
        try await TestJournal.run { journal in
            let producer = ProducerID()
            // More documents than one batch can withdraw, and than the projection stores at once.
            let held = try await journal.write(LeaseRecord(.held), to: .lease(producer))
            let expectation = LastSequence(held, of: journal.text(.lease(producer)))
            for batch in 0..<5 {
                let documents = (0..<1000).map { message(.document, "D\(batch)", key: "\($0)") }
                try await journal.publish(documents, lease: producer, expecting: expectation)
            }
            let revoked = try await journal.write(LeaseRecord(.revoked), to: .lease(producer), after: held)
            try await Self.keep(journal) {
                try await journal.wait(for: .lease(producer), as: LeaseRecord.self) { $0.state == .withdrawn }
            }
            #expect(try await journal.folded().isEmpty)
            #expect(try await journal.documents().isEmpty)
            #expect(revoked > held)
            // A batch whose acknowledgement is lost is sent again, and stored once, by its id.
            var ids: [String?] = []
            let withdrawals = ConsumerSettings(
                filters: [journal.names.batches], start: .sequence(revoked), headersOnly: true)
            try await journal.jetStream.readAll(of: "TEST", withdrawals) {
                ids.append($0.message.header(BatchHeaders.Name.id.rawValue))
            }
            #expect(ids.count == 157 && !ids.contains(nil) && Set(ids).count == 157)
        }
    }

    @Test(
        "The partitions of an ended membership are fenced before the documents are withdrawn",
        .timeLimit(.minutes(3)))
    func memberships() async throws {
        try await TestJournal.run { journal in
            let (silent, alive, producer, other) = (UUID(), UUID(), ProducerID(), ProducerID())
            var group = ConsumerGroup()
            _ = group.claim(ConsumerMember(.shared, id: alive))
            let claimed = group.claim(ConsumerMember(.shared, id: silent))
            try await journal.write(GroupRecord(group, epoch: journal.journal.current), to: .group(consumer: "worker"))
            for partition in claimed.offsets.keys {
                try await journal.write(
                    FenceRecord(ownerGeneration: claimed.ownerGeneration, previous: 0, member: silent),
                    to: .fence(ConsumerPartition("worker", partition)))
            }
            _ = try await Self.hold(journal, producer, documents: [message(.document, "Flow")])
            let withdrawn = try await Self.keep(journal) {
                let member = Heartbeat.Member(consumer: "worker", id: alive, isExclusive: false)
                return try await during({ try await Self.beat(journal, other, [member]) }) {
                    try await journal.wait(for: .lease(producer), as: LeaseRecord.self) { $0.state == .withdrawn }
                }
            }
            let left = try #require(
                try await journal.last(.group(consumer: "worker"), as: GroupRecord.self)?.existing(
                    in: journal.journal, at: 1))
            #expect(left.members == [alive])
            #expect(left.shares.allSatisfy { $0.member == alive })
            #expect(claimed.offsets.count == 32)
            for partition in claimed.offsets.keys {
                let owner = ConsumerPartition("worker", partition)
                let fence = try #require(
                    try await journal.jetStream.lastMessage(of: "TEST", subject: journal.text(.fence(owner))))
                let record = try FenceRecord(json: fence.body)
                // For claims, which read headers only.
                #expect(fence.headers["Segue-Fence"] == String(decoding: fence.body, as: UTF8.self))
                #expect(record.previous == claimed.ownerGeneration)
                #expect(fence.sequence < withdrawn)
                // The next claim gets a higher number than the fence.
                #expect(left.ownerGeneration == record.ownerGeneration)
            }
        }
    }

    @Test(
        "Partitions without a new claim get fences of an owner generation that no member has",
        .timeLimit(.minutes(3)))
    func leftFences() async throws {
        try await TestJournal.run { journal in
            let (former, owner, next, producer) = (UUID(), UUID(), UUID(), ProducerID())
            var group = ConsumerGroup()
            let first = group.claim(ConsumerMember(.shared, id: former))
            for partition in first.offsets.keys {
                try await journal.write(
                    FenceRecord(ownerGeneration: first.ownerGeneration, previous: 0, member: former),
                    to: .fence(ConsumerPartition("worker", partition)))
            }
            // One member has claimed after the former owner; the other one has not yet claimed its partitions.
            _ = group.claim(ConsumerMember(.shared, id: owner))
            _ = group.claim(ConsumerMember(.shared, id: next))
            group.leave(former)
            let active = group.claim(ConsumerMember(.shared, id: owner))
            try await journal.write(GroupRecord(group, epoch: journal.journal.current), to: .group(consumer: "worker"))
            let free = Partition.all.filter { group.shares[Int($0.number)].ownerGeneration == 0 }
            #expect(!free.isEmpty)
            let members = [owner, next].map { Heartbeat.Member(consumer: "worker", id: $0, isExclusive: false) }
            try await Self.keep(journal) {
                try await during({ try await Self.beat(journal, producer, members) }) {
                    for partition in free {
                        try await journal.wait(
                            for: .fence(ConsumerPartition("worker", partition)), as: FenceRecord.self
                        ) { $0.member == FenceRecord.nobody && $0.ownerGeneration > active.ownerGeneration }
                    }
                }
            }
            let left = try #require(
                try await journal.last(.group(consumer: "worker"), as: GroupRecord.self)?.existing(
                    in: journal.journal, at: 1))
            #expect(left.ownerGeneration > active.ownerGeneration)
            #expect(left.shares == group.shares)
        }
    }
}
