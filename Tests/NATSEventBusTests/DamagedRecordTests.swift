import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import Support
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Damaged records of the bus on NATS", .timeLimit(.minutes(3)))
struct DamagedRecordTests {
    /// Bodies that no program writes.
    private static let bodies = ["", "{", "[1]", #"{"record":{},"version":1}"#, #"{"record":{},"version":0}"#]

    @Test(arguments: bodies)
    func `A claim replaces a damaged group, and the consumer continues where it was`(body: String) async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let claim = try await first.handle(7, of: 10)
                try await first.damage(.group(consumer: "counter"), body)
                try await first.renewed(claim)
                #expect(try await second.claims.consumers().isEmpty)
                let next = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(next.ownerGeneration > claim.ownerGeneration)
                #expect(try await second.read(under: next).numbers == Array(7..<10))
                #expect(try await second.claims.consumers().map(\.name) == ["counter"])
            }
        }
    }

    @Test func `Members claim again with higher generations when the servers have lost the group but not its fences`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                try await first.publish(0..<10)
                let members = [ConsumerMember.shared, .shared]
                let old = try await first.claims.claim(consumer: "shared", as: members[0])
                let other = try await second.claims.claim(consumer: "shared", as: members[1])
                try await first.journal.jetStream.purge("SEGUE", filter: "SEGUE.k.g.shared")
                let next = try await second.claims.claim(consumer: "shared", as: members[1])
                let last = try await first.claims.claim(consumer: "shared", as: members[0])
                #expect(next.ownerGeneration > max(old.ownerGeneration, other.ownerGeneration))
                #expect(last.ownerGeneration > next.ownerGeneration)
            }
        }
    }

    @Test(arguments: bodies)
    func `A claim replaces damaged fences and cut-offs, and the consumer continues where it was`(body: String)
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let claim = try await first.handle(7, of: 10)
                for partition in Partition.all {
                    try await first.damage(.fence(ConsumerPartition("counter", partition)), body)
                }
                try await first.damage(.cutOffs(consumer: "counter"), body)
                let refused = Batch([], checkpoint: Checkpoint(claim: claim, upTo: try await first.journal.end()))
                #expect(try await first.code(of: refused) == .epoch, "nobody has taken over")
                let next = try await first.claims.claim(consumer: "counter", as: claim.member)
                #expect(try await first.read(under: next).numbers == Array(7..<10))
                let last = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(last.ownerGeneration > next.ownerGeneration)
                #expect(try await second.read(under: last).numbers == Array(7..<10))
            }
        }
    }

    @Test func `Members claim again with a higher owner generation when the group and all its fences are damaged`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let claim = try await bus.handle(7, of: 10)
                try await bus.damage(.group(consumer: "counter"), "x")
                for partition in Partition.all {
                    try await bus.damage(.fence(ConsumerPartition("counter", partition)), "x")
                }
                let next = try await bus.claims.claim(consumer: "counter", as: claim.member)
                #expect(try await bus.read(under: next).numbers == Array(7..<10))
                let end = try await bus.journal.end()
                #expect(try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: next, upTo: end))) == nil)
            }
        }
    }

    @Test func `A consumer whose group is damaged can be removed`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let claim = try await bus.handle(7, of: 10)
                await bus.claims.leave(consumer: "counter", as: claim.member)
                try await bus.damage(.group(consumer: "counter"), "x")
                try await bus.claims.forget(consumer: "counter")
                let next = try await bus.claims.claim(consumer: "counter", as: .exclusive)
                #expect(next.ownerGeneration > claim.ownerGeneration)
                #expect(try await bus.read(under: next).numbers == Array(0..<10))
            }
        }
    }

    @Test func `A record of a newer program is not replaced`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.damage(.group(consumer: "counter"), #"{"record":{},"version":2}"#)
                let error = await #expect(throws: BusError.self) {
                    try await bus.claims.claim(consumer: "counter", as: .exclusive)
                }
                #expect(error?.code == .refused)
                #expect(error?.message.utf8.contains(Array("update this program".utf8)) == true)
            }
        }
    }

    @Test func `A fence with the highest owner generation refuses a claim in one line`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let fence = FenceRecord(
                    ownerGeneration: GroupRecord.maximumOwnerGeneration, previous: 0, member: UUID())
                let owner = ConsumerPartition("counter", Partition.all[0])
                _ = try await bus.journal.write(fence, .fence(owner), after: 0)
                let error = await #expect(throws: BusError.self) {
                    try await bus.claims.claim(consumer: "counter", as: .exclusive)
                }
                #expect(error?.code == .refused)
            }
        }
    }

    @Test func `A damaged lease is replaced, and its documents are published again`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let document = try Envelope(Setting(name: nil, value: "1"), source: bus.source)
                try await bus.publish(Batch([document], isLeased: true))
                try await bus.damage(.lease(bus.producer), "x")
                let other = try Envelope(Setting(name: "b", value: "2"), source: bus.source)
                try await bus.publish(Batch([other], isLeased: true))
                let lease = try await bus.journal.read(LeaseRecord.self, .lease(bus.producer))
                #expect(lease.value?.state == .held)
                let values = try await bus.messages().map { try $0.decode(Setting.self).value }
                #expect(values == ["1", "1", "2"])
            }
        }
    }

    @Test func `Damaged watermarks and tables of the steward count as missing, and are read from the journal`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(Batch([try Envelope(Setting(name: nil, value: "1"), source: bus.source)]))
                for subject in [BusSubject.documentWatermark, .typeTable, .removal] {
                    try await bus.damage(subject, "x")
                }
                let epoch = try await bus.journal.identity().epoch
                let skipped = SkippedMessages(logger: .silent)
                let documents = Documents(journal: bus.journal, skipped: skipped)
                #expect(try await documents.overlay([.kind(.document)], epoch: epoch).envelopes().count == 1)
                let newest = try await bus.journal.newest(matching: [.kind(.document)], epoch: epoch, skipped: skipped)
                #expect(Array(newest.keys) == [Setting.type])
                #expect(try await bus.deadLetters.count(of: nil) == 0)
            }
        }
    }
}

extension BusParts {
    /// Writes a record that cannot be read.
    fileprivate func damage(_ subject: BusSubject, _ body: String) async throws {
        try await journal.jetStream.publish(journal.subject(subject), body: Array(body.utf8))
    }

    /// Publishes numbers, claims them, and records that the first ones are handled.
    fileprivate func handle(_ handled: Int, of count: Int) async throws -> ConsumerClaim {
        for number in 0..<count { try await publish([number]) }
        let claim = try await claims.claim(consumer: "counter", as: .exclusive)
        for message in try await read(under: claim).prefix(handled) {
            let checkpoint = Checkpoint(claim: claim, handled: Delivery(message))
            try await publish(Batch([], checkpoint: checkpoint))
        }
        return claim
    }

    /// Waits until a reader under a claim has ended.
    fileprivate func renewed(_ claim: ConsumerClaim) async throws {
        let ended = Latch()
        try await claims.withWatch(of: claim, progress: nil, onEnd: ended.open) { watch in
            try await ended.waitUntilOpen()
            #expect(watch.isEnded)
        }
    }
}
