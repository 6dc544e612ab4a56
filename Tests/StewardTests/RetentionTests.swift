import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Synchronization
import Testing

@testable import Steward

@Suite("Retention")
struct RetentionTests {
    private static func retention(
        _ journal: TestJournal, _ limits: RetentionLimits, _ projection: Projection,
        notices: @escaping @Sendable (BusNotice) -> Void = { _ in }
    ) -> Retention {
        let configuration = StewardConfiguration(namespace: "TEST") {
            notices($0)
            return nil
        }
        return Retention(
            journal.jetStream, names: journal.names, epochs: journal.journal, limits: limits, projection: projection,
            notices: StewardNotices(
                journal.jetStream, names: journal.names, configuration: configuration, logger: TestJournal.logger),
            logger: TestJournal.logger)
    }

    private static func projection(_ journal: TestJournal) -> Projection {
        Projection(
            journal.jetStream, names: journal.names, epochs: journal.journal, notices: journal.notices,
            steward: StewardRecord(instance: UUID(), term: 1), logger: TestJournal.logger)
    }

    /// Makes an exclusive consumer, with its fences.
    /// - Returns: The owner generation.
    private static func claim(_ journal: TestJournal, _ name: String, after offset: UInt64 = 0) async throws -> UInt64 {
        var group = ConsumerGroup(
            ownerGeneration: 0, shares: Partition.all.map { _ in .init(offset: offset) }, progress: [:], members: [])
        let member = ConsumerMember.exclusive
        let claimed = group.claim(member)
        try await journal.write(GroupRecord(group, epoch: journal.journal.current), to: .group(consumer: name))
        for partition in Partition.all {
            try await journal.write(
                FenceRecord(ownerGeneration: claimed.ownerGeneration, previous: 0, member: member.id),
                to: .fence(ConsumerPartition(name, partition)))
        }
        return claimed.ownerGeneration
    }

    /// Records that a consumer has handled everything up to a sequence.
    private static func handle(
        _ journal: TestJournal, _ name: String, upTo sequence: Int, ownerGeneration: UInt64,
        in partition: Partition = Partition.all[0]
    ) async throws {
        let offset = StreamPosition.end(of: UInt64(sequence))
        let progress = RecordedProgress(
            ownerGeneration: ownerGeneration, offset: offset, settled: offset, partition: nil)
        let headers = BatchHeaders(id: "", count: 0, progress: progress)
        try await journal.jetStream.publish(
            journal.text(.progress(ConsumerPartition(name, partition))), headers: NATSHeaders(headers.fields),
            body: [])
    }

    private static let old = Date(timeIntervalSinceNow: 3600)

    @Test(
        "Retention by age keeps what a consumer has not handled, and what the projection lacks", .timeLimit(.minutes(3))
    )
    func age() async throws {
        try await TestJournal.run { journal in
            let first = try await journal.publish([message(.event, "E0")])
            for number in 1..<10 { try await journal.publish([message(.event, "E\(number)")]) }
            let last = first + 9
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: .seconds(60), size: nil))
            // The watermark is at the beginning.
            try await projection.begin()
            try await retention.step(at: Self.old)
            #expect(try await journal.messages(after: 0).count == 10)
            try await during({ try await projection.run() }) {
                try await journal.waitUntilMark(last)
                // Nothing is old.
                try await retention.step(at: Date())
                #expect(try await journal.messages(after: 0).count == 10)
                let epoch = try await Self.claim(journal, "worker")
                try await retention.step(at: Self.old)
                #expect(try await journal.messages(after: 0).count == 10)
                try await Self.handle(journal, "worker", upTo: first + 3, ownerGeneration: epoch)
                try await retention.step(at: Self.old)
                #expect(try await journal.messages(after: 0).count == 6)
                #expect(try await journal.last(.removal, as: RemovalRecord.self)?.sequence == UInt64(first + 3))
                try await Self.handle(journal, "worker", upTo: last, ownerGeneration: epoch)
                try await retention.step(at: Self.old)
                #expect(try await journal.messages(after: 0).isEmpty)
                #expect(try await journal.last(.cutOffs(consumer: "worker"), as: CutOffRecord.self) == nil)
            }
        }
    }

    @Test("Retention by age removes what only a removed consumer has not handled", .timeLimit(.minutes(3)))
    func removedConsumer() async throws {
        try await TestJournal.run { journal in
            let last = try await journal.publish([message(.event, "E")])
            let epoch = try await Self.claim(journal, "worker")
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: .seconds(60), size: nil))
            try await during({ try await projection.run() }) {
                try await journal.waitUntilMark(last)
                try await retention.step(at: Self.old)
                #expect(try await journal.messages(after: 0).count == 1)
                let group = BusSubject.group(consumer: "worker")
                let claimed = try #require(
                    try await journal.jetStream.lastMessage(of: journal.names.journal, subject: journal.text(group)))
                try await journal.write(GroupRecord(removedAfter: epoch), to: group, after: claimed.sequence)
                try await retention.step(at: Self.old)
                #expect(try await journal.messages(after: 0).isEmpty)
            }
        }
    }

    private static func start(
        _ journal: TestJournal, _ limits: RetentionLimits, notices: @escaping @Sendable (BusNotice) -> Void = { _ in }
    ) async -> (Retention, Projection) {
        let projection = Self.projection(journal)
        return (Self.retention(journal, limits, projection, notices: notices), projection)
    }

    @Test(
        "Retention by size removes the oldest messages, warns a consumer, and counts its loss exactly and once",
        .timeLimit(.minutes(3)))
    func size() async throws {
        try await TestJournal.run { journal in
            let notices = Mutex<[BusNotice.Code]>([])
            let size = 400_000
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: nil, size: size)) { notice in
                notices.withLock { $0.append(notice.code) }
            }
            _ = try await Self.claim(journal, "worker")
            try await during({ try await projection.run() }) {
                let text = "\"\(String(repeating: "x", count: 1000))\""
                let kept = message(.document, "Kept", data: text)
                try await journal.publish([kept])
                try await journal.publish([message(.document, "Superseded", data: text)])
                try await journal.publish([message(.document, "Superseded", data: "1")])
                let first = try await Self.fill(journal, upTo: size / 10 * 9, text)
                try await retention.step(at: Date())
                #expect(notices.withLock(\.self) == [.consumerBehind])
                #expect(try await journal.messages(after: 0).count == 3 + first)
                let second = try await Self.fill(journal, upTo: size / 10 * 13, text)
                try await retention.step(at: Date())
                let used = try await journal.jetStream.stream("TEST").byteCount
                // The record of the cut-offs came after the measurement.
                #expect(used <= size + 1000 && used > size / 10 * 9)
                let left = try await journal.messages(after: 0)
                let removed = 3 + first + second - left.count
                #expect(removed > 4 && left.count > 100)
                let record = try #require(
                    try await journal.last(.cutOffs(consumer: "worker"), as: CutOffRecord.self))
                let cutOffs = record.cutOffs(recordedAt: nil, progress: nil)
                #expect(cutOffs.map(\.count).reduce(0, +) == removed - 2, "\(cutOffs)")
                // Of the documents, one is lost: the others are still retained.
                #expect(cutOffs.filter { $0.type.kind == .document }.map(\.count) == [1])
                #expect(notices.withLock(\.self) == [.consumerBehind, .consumerCutOff])
                #expect(try await journal.documents().map(\.type.name) == ["Kept", "Superseded"])
            }
        }
    }

    /// Publishes until the journal has a size, and waits for the projection.
    /// - Returns: The number of messages.
    private static func fill(_ journal: TestJournal, upTo size: Int, _ text: String) async throws -> Int {
        var (count, last) = (0, 0)
        while try await journal.jetStream.stream("TEST").byteCount < size {
            last = try await journal.publish([message(.event, "E", data: text), message(.command, "C")])
            count += 2
        }
        try await journal.waitUntilMark(last)
        return count
    }

    @Test(
        "A loss is counted once although the steward is killed between recording and removing", .timeLimit(.minutes(3)))
    func repeated() async throws {
        try await TestJournal.run { journal in
            _ = try await Self.claim(journal, "worker")
            let records = ControlRecords(
                journal.jetStream, names: journal.names, epochs: journal.journal, notices: journal.notices)
            let type = MessageType(kind: .event, name: "E")
            let sequence = try await journal.publish([message(.event, "E")])
            let offset = StreamPosition.end(of: UInt64(sequence))
            _ = try await records.consumers()
            #expect(try await records.add([CutOff(type: type, count: 1, offsets: offset...offset)], to: "worker"))
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: nil, size: 1))
            try await during({ try await projection.run() }) {
                try await journal.waitUntilMark(sequence)
                try await retention.step(at: Date())
            }
            #expect(try await journal.messages(after: 0).isEmpty)
            let record = try await journal.last(.cutOffs(consumer: "worker"), as: CutOffRecord.self)
            #expect(record?.cutOffs(recordedAt: nil, progress: nil).map(\.count) == [1])
        }
    }

    @Test("Retention keeps one record of each kind, and all fences that a claim reads", .timeLimit(.minutes(2)))
    func records() async throws {
        try await TestJournal.run { journal in
            let epoch = try await Self.claim(journal, "worker")
            // A fence was replaced before the position that is recorded below.
            let owner = ConsumerPartition("worker", Partition.all[5])
            let first = try #require(
                try await journal.jetStream.lastMessage(of: "TEST", subject: journal.text(.fence(owner))))
            let second = FenceRecord(ownerGeneration: epoch + 1, previous: epoch, member: UUID())
            try await journal.write(second, to: .fence(owner), after: first.sequence)
            let producer = ProducerID()
            let held = try await journal.write(LeaseRecord(.held), to: .lease(producer))
            try await journal.write(LeaseRecord(.revoked), to: .lease(producer), after: held)
            let removal = try await journal.write(RemovalRecord(sequence: 0), to: .removal)
            try await journal.write(RemovalRecord(sequence: 0), to: .removal, after: removal)
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: nil, size: nil))
            try await during({ try await projection.run() }) {
                let last = try await journal.publish([message(.event, "E")])
                try await journal.waitUntilMark(last)
                try await retention.step(at: Date())
                #expect(try await Self.count(journal, .lease(producer)) == 1)
                #expect(try await Self.count(journal, .removal) == 1)
                // The group is recorded at the beginning, so a claim reads both fences.
                #expect(try await Self.count(journal, .fence(owner)) == 2)
                // Sequences that nobody needs, so that the recorded position is worth raising.
                for _ in 0..<10_100 {
                    try journal.connection.publish(journal.text(.batch(MessageTokens(of: [message(.event, "E")]))))
                }
                try await journal.connection.roundTrip()
                let end = try await journal.publish([message(.event, "E")])
                try await Self.handle(journal, "worker", upTo: end, ownerGeneration: epoch)
                try await Self.handle(journal, "worker", upTo: end - 1, ownerGeneration: epoch + 1, in: owner.partition)
                try await journal.waitUntilMark(end)
                try await retention.step(at: Date())
                #expect(try await Self.count(journal, .fence(owner)) == 1)
                #expect(try await Self.count(journal, .progress(owner)) == 0)
            }
            let group = try await journal.last(.group(consumer: "worker"), as: GroupRecord.self)?.existing(
                in: journal.journal, at: 1)
            // Partition 5 has a new owner, who has handled what the previous one had.
            #expect(group?.handled(Partition.all[0]) ?? 0 > StreamPosition.end(of: 10_000))
            #expect(try await Self.count(journal, .group(consumer: "worker")) == 1)
        }
    }

    @Test("Replaced records are removed without haste when the journal has no batch", .timeLimit(.minutes(3)))
    func withoutBatches() async throws {
        try await TestJournal.run { journal in
            let (retention, projection) = await Self.start(journal, RetentionLimits(age: nil, size: 1))
            // The watermark stays at the beginning, so nothing is removed.
            try await projection.begin()
            _ = try await journal.publish([message(.event, "E")])
            try await retention.step(at: Date())
            #expect(await retention.pause < Retention.interval)
            try await journal.jetStream.purge("TEST", filter: journal.names.batches)
            let producer = ProducerID()
            let held = try await journal.write(LeaseRecord(.held), to: .lease(producer))
            try await journal.write(LeaseRecord(.revoked), to: .lease(producer), after: held)
            try await retention.step(at: Date())
            #expect(try await Self.count(journal, .lease(producer)) == 1)
            #expect(await retention.pause == Retention.interval)
        }
    }

    @Test("The records of a consumer that was removed long ago are removed", .timeLimit(.minutes(3)))
    func endedConsumer() async throws {
        try await TestJournal.run { journal in
            let epoch = try await Self.claim(journal, "worker")
            let sequence = try await journal.publish([message(.event, "E")])
            try await Self.handle(journal, "worker", upTo: sequence, ownerGeneration: epoch)
            let group = BusSubject.group(consumer: "worker")
            let owner = ConsumerPartition("worker", Partition.all[0])
            func last(_ subject: BusSubject) async throws -> Int {
                try await journal.jetStream.lastMessage(of: "TEST", subject: journal.text(subject))?.sequence ?? 0
            }
            try await journal.write(GroupRecord(removedAfter: epoch + 1), to: group, after: try await last(group))
            try await journal.write(
                FenceRecord(removedAfter: epoch + 1, previous: epoch), to: .fence(owner),
                after: try await last(.fence(owner)))
            let (retention, _) = await Self.start(journal, RetentionLimits(age: nil, size: nil))
            let (soon, late) = (Date(), Date(timeIntervalSinceNow: 8 * 24 * 60 * 60))
            try await retention.step(at: late)
            #expect(try await last(.fence(owner)) > 0, "the journal has a batch from before the removal")
            try await journal.jetStream.purge("TEST", filter: journal.names.batches)
            try await retention.step(at: soon)
            #expect(try await last(.fence(owner)) > 0, "an owner may continue late")
            try await retention.step(at: late)
            for partition in Partition.all {
                #expect(try await last(.fence(ConsumerPartition("worker", partition))) == 0)
            }
            #expect(try await last(.progress(owner)) == 0)
            #expect(try await last(group) > 0)
        }
    }

    private static func count(_ journal: TestJournal, _ subject: BusSubject) async throws -> Int {
        var count = 0
        try await journal.jetStream.readAll(
            of: "TEST", ConsumerSettings(filters: [journal.text(subject)], headersOnly: true)
        ) { _ in count += 1 }
        return count
    }
}
