import BusConformance
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Support
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Claims of durable consumers on NATS", .timeLimit(.minutes(3)))
struct ClaimTests {
    @Test func `A new consumer begins at the beginning, and a later claim fences the earlier one`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let position = try await first.publish([1])
                let old = try await first.claims.claim(consumer: "counter", as: .exclusive)
                #expect(old.position.offset == 0)
                #expect(old.offsets.count == Partition.count)
                let new = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(new.ownerGeneration > old.ownerGeneration)
                let late = Batch(
                    [try Envelope(Counted(number: 2), source: "x")],
                    checkpoint: Checkpoint(claim: old, upTo: position))
                #expect(try await first.code(of: late) == .fenced)
                #expect(try await first.numbers() == [1])
                try await second.publish(Batch([], checkpoint: Checkpoint(claim: new, upTo: position)))
                let again = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(again.position == position)
                let displaced = await #expect(throws: BusError.self) {
                    try await first.claims.claim(consumer: "counter", as: old.member)
                }
                #expect(displaced?.code == .fenced)
            }
        }
    }

    @Test func `A claim that is repeated is the same, and has the progress`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<3)
                let claim = try await bus.claims.claim(consumer: "counter", as: .shared)
                let messages = try await bus.read(under: claim)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[1]))))
                let again = try await bus.claims.claim(consumer: "counter", as: claim.member)
                #expect(again.ownerGeneration == claim.ownerGeneration)
                #expect(again.position == messages[1].position)
                #expect(try await bus.read(under: again).numbers == [2])
            }
        }
    }

    @Test func `A member that joins gets half of the partitions, and the other one keeps the rest`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                for number in 0..<64 { try await first.publish([number], subject: "session-\(number)") }
                let all = try await first.claims.claim(consumer: "workers", as: .shared)
                let read = try await first.read(under: all)
                let half = try await second.claims.claim(consumer: "workers", as: .shared)
                #expect(half.offsets.count == Partition.count / 2)
                let lost = try #require(read.first { half.covers($0) })
                let kept = try #require(read.first { !half.covers($0) })
                let (late, valid) = (
                    Checkpoint(claim: all, handled: Delivery(lost)), Checkpoint(claim: all, handled: Delivery(kept))
                )
                #expect(try await first.code(of: Batch([], checkpoint: late)) == .fenced)
                #expect(try await first.code(of: Batch([], checkpoint: valid)) == nil)
                let rest = try await first.claims.claim(consumer: "workers", as: all.member)
                #expect(Set(rest.offsets.keys) == Set(Partition.all).subtracting(half.offsets.keys))
                #expect(rest.ownerGeneration > half.ownerGeneration)
                await second.claims.leave(consumer: "workers", as: half.member)
                let whole = try await first.claims.claim(consumer: "workers", as: all.member)
                #expect(whole.offsets.count == Partition.count)
                #expect(whole.offsets[kept.partition] ?? 0 >= kept.position?.offset ?? .max)
                #expect(whole.offsets[lost.partition] ?? .max < lost.position?.offset ?? 0)
            }
        }
    }

    @Test func `Messages that a member handles do not count for partitions that it has lost`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let all = try await first.claims.claim(consumer: "workers", as: .shared)
                // The next owner records that it gets half, and then its fences wait, as while a leader is elected.
                let member = ConsumerMember.shared
                let assigned = try await ConsumerRecords(journal: second.journal).assign(
                    "workers", to: member, in: try await second.journal.identity().epochs)
                let given = Set(assigned.group.ownership(of: member.id).offsets.keys)
                #expect(given.count == Partition.count / 2)
                let rest = try await first.claims.claim(consumer: "workers", as: all.member)
                #expect(Set(rest.offsets.keys).isDisjoint(with: given))
                let end = try await first.publish([1])
                try await first.publish(Batch([], checkpoint: Checkpoint(claim: rest, upTo: end)))
                let half = try await second.claims.claim(consumer: "workers", as: member)
                #expect(Set(half.offsets.keys) == given)
                #expect(half.offsets.values.allSatisfy { $0 < end.offset })
            }
        }
    }

    @Test func `Of many members that claim at once, each gets a part, and every partition has one owner`() async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let members = (0..<6).map { _ in ConsumerMember.shared }
                let claims = try await withThrowingTaskGroup(of: ConsumerClaim.self) { group in
                    for (index, member) in members.enumerated() {
                        let bus = index.isMultiple(of: 2) ? first : second
                        group.addTask { try await bus.claims.claim(consumer: "workers", as: member) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(claims.count == 6)
                var owned: [Partition] = []
                for (index, member) in members.enumerated() {
                    let bus = index.isMultiple(of: 2) ? first : second
                    owned += try await bus.claims.claim(consumer: "workers", as: member).offsets.keys
                }
                #expect(owned.count == Partition.count)
                #expect(Set(owned) == Set(Partition.all))
            }
        }
    }

    @Test func `A reader ends when its claim has lost or may get partitions`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let all = try await first.claims.claim(consumer: "workers", as: .shared)
                let ended = Latch()
                let half = try await first.claims.withWatch(of: all, progress: nil, onEnd: ended.open) { watch in
                    #expect(!watch.isEnded)
                    let half = try await second.claims.claim(consumer: "workers", as: .shared)
                    try await ended.waitUntilOpen()
                    #expect(watch.isEnded)
                    return half
                }
                // A claim that is not current ends at once.
                try await first.claims.withWatch(of: all, progress: nil, onEnd: {}) { watch in #expect(watch.isEnded) }
                let rest = try await first.claims.claim(consumer: "workers", as: all.member)
                let given = Latch()
                try await first.claims.withWatch(of: rest, progress: nil, onEnd: given.open) { watch in
                    #expect(!watch.isEnded)
                    await second.claims.leave(consumer: "workers", as: half.member)
                    try await given.waitUntilOpen()
                }
            }
        }
    }

    @Test func `The progress of a waiting reader is recorded, but not beyond an unfinished message`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let end = try await bus.publish(0..<3)
                let record: @Sendable (Checkpoint) async throws -> Void = {
                    try await bus.publish(Batch([], checkpoint: $0))
                }
                let progress = ConsumerProgress()
                progress.oldestUnfinished = end.offset - 1
                try await bus.claims.withWatch(of: claim, progress: progress, onEnd: {}) { watch async throws in
                    await bus.claims.recordIdleProgress(with: record)
                    #expect(try await bus.claims.consumers().map(\.position.offset) == [0])
                    watch.recordWaiting(after: end.offset)
                    await bus.claims.recordIdleProgress(with: record)
                    #expect(try await bus.claims.consumers().map(\.position.offset) == [end.offset - 2])
                    progress.oldestUnfinished = nil
                    await bus.claims.recordIdleProgress(with: record)
                    #expect(try await bus.claims.consumers().map(\.position) == [end])
                }
            }
        }
    }

    @Test func `Consumers are listed by name, each with its position and its members`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                #expect(try await first.claims.consumers().isEmpty)
                let end = try await first.publish(0..<4)
                _ = try await first.claims.claim(consumer: "behind", as: .shared)
                let claim = try await second.claims.claim(consumer: "ahead", as: .exclusive)
                let messages = try await second.read(under: claim)
                try await second.publish(
                    Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[2]))))
                let consumers = try await first.claims.consumers()
                #expect(consumers.map(\.name) == ["ahead", "behind"])
                #expect(consumers.map(\.position.offset) == [messages[2].position?.offset, 0])
                #expect(consumers.map(\.memberCount) == [0, 1])
                #expect(consumers.map(\.end) == [end, end])
            }
        }
    }

    @Test func `A consumer can be removed only when no process runs it, and then starts again`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                try await second.claims.forget(consumer: "nobody")
                let end = try await first.publish(0..<3)
                let old = try await first.claims.claim(consumer: "sole", as: .exclusive)
                let messages = try await first.read(under: old)
                try await first.publish(Batch([], checkpoint: Checkpoint(claim: old, handled: Delivery(messages[1]))))
                let owned = await #expect(throws: BusError.self) { try await second.claims.forget(consumer: "sole") }
                #expect(owned?.code == .refused)
                #expect(owned?.message.contains("'sole'") == true)
                await first.claims.leave(consumer: "sole", as: old.member)
                try await second.claims.forget(consumer: "sole")
                #expect(try await second.claims.consumers().isEmpty)
                #expect(
                    try await first.code(of: Batch([], checkpoint: Checkpoint(claim: old, upTo: end))) == .fenced)
                let new = try await second.claims.claim(consumer: "sole", as: .exclusive)
                #expect(new.ownerGeneration > old.ownerGeneration)
                #expect(Set(new.offsets.values) == [0])
                #expect(try await second.read(under: new).numbers == [0, 1, 2])
                try await second.publish(Batch([], checkpoint: Checkpoint(claim: new, handled: Delivery(messages[0]))))
                #expect(try await first.claims.consumers().map(\.position) == [messages[0].position])
                let member = ConsumerMember.shared
                _ = try await first.claims.claim(consumer: "workers", as: member)
                let shared = await #expect(throws: BusError.self) {
                    try await second.claims.forget(consumer: "workers")
                }
                #expect(shared?.code == .refused)
                await first.claims.leave(consumer: "workers", as: member)
                try await second.claims.forget(consumer: "workers")
            }
        }
    }

    @Test func `A consumer whose process has ended can be removed`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts("other/1") { other in
                let old = try await fixture.withParts("owner/1") { owner in
                    try await owner.publish([1])
                    return try await owner.claims.claim(consumer: "sole", as: .exclusive)
                }
                try await other.claims.forget(consumer: "sole")
                let fence = try await other.journal.read(
                    FenceRecord.self, .fence(ConsumerPartition("sole", Partition.all[0])))
                #expect(fence.value?.isRemoval == true)
                #expect(fence.value?.ownerGeneration ?? 0 > old.ownerGeneration)
            }
        }
    }

    @Test func `A member can leave in a cancelled task`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let member = ConsumerMember.shared
                _ = try await bus.claims.claim(consumer: "workers", as: member)
                #expect(await bus.claims.heartbeatMembers.map(\.id) == [member.id])
                await withTaskGroup { group in
                    group.addTask {
                        while !Task.isCancelled { await Task.yield() }
                        await bus.claims.leave(consumer: "workers", as: member)
                    }
                    group.cancelAll()
                }
                #expect(try await bus.claims.consumers().map(\.memberCount) == [0])
                #expect(await bus.claims.heartbeatMembers.isEmpty)
            }
        }
    }

    @Test func `A member that leaves while it claims is not a member afterwards`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                let member = ConsumerMember.shared
                fixture.server.pause()
                async let claim = bus.claims.claim(consumer: "workers", as: member)
                while await bus.claims.heartbeatMembers.isEmpty { await Task.yield() }
                await bus.claims.leave(consumer: "workers", as: member)
                fixture.server.resume()
                do {
                    Issue.record("the member has got \(try await claim)")
                } catch is CancellationError {}
                #expect(await bus.claims.heartbeatMembers.isEmpty)
                // The claim may have recorded the member after it had left.
                while try await other.claims.consumers().contains(where: { $0.memberCount > 0 }) { await Task.yield() }
            }
        }
    }

    @Test func `A removed consumer makes room for another one`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let records = ConsumerRecords(journal: bus.journal, capacity: 2)
                let epochs = try await bus.journal.identity().epochs
                let member = ConsumerMember.exclusive
                for name in ["first", "second"] { _ = try await records.assign(name, to: member, in: epochs) }
                let refused = await #expect(throws: BusError.self) {
                    try await records.assign("third", to: member, in: epochs)
                }
                #expect(refused?.code == .refused)
                try await bus.claims.forget(consumer: "first")
                _ = try await records.assign("third", to: member, in: epochs)
                // Its record is still there, but it is a new consumer.
                await #expect(throws: BusError.self) { try await records.assign("first", to: member, in: epochs) }
            }
        }
    }

    @Test func `A claim is kept across a restart of the server, and its predecessor stays fenced`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let end = try await bus.publish(0..<3)
                let old = try await bus.claims.claim(consumer: "counter", as: .exclusive)
                let claim = try await bus.claims.claim(consumer: "counter", as: .exclusive)
                let messages = try await bus.read(under: claim)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[0]))))
                try await fixture.server.restart()
                #expect(try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: old, upTo: end))) == .fenced)
                let again = try await bus.claims.claim(consumer: "counter", as: claim.member)
                #expect(again.ownerGeneration == claim.ownerGeneration)
                #expect(again.position == messages[0].position)
            }
        }
    }

    @Test func `A member completes the claim of another one that ended, and survives the loss of the record`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let position = try await bus.publish([1])
                // A claimant that ended before it wrote its fences.
                var group = ConsumerGroup()
                _ = group.claim(.exclusive)
                _ = try await bus.journal.write(
                    GroupRecord(group, epoch: try await bus.journal.identity().epoch), .group(consumer: "c"), after: 0)
                let claim = try await bus.claims.claim(consumer: "c", as: .exclusive)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: position)))
                // The record of the group is lost; the fences are not.
                try await bus.journal.jetStream.purge("SEGUE", filter: "SEGUE.k.g.c")
                let next = try await bus.claims.claim(consumer: "c", as: .exclusive)
                #expect(next.ownerGeneration > claim.ownerGeneration)
                #expect(next.position == position)
                #expect(
                    try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: claim, upTo: position)))
                        == .fenced)
            }
        }
    }

    @Test func `A claim whose fences the servers have lost ends, and the next one writes new ones`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let position = try await bus.publish([1])
                let member = ConsumerMember.shared
                let claim = try await bus.claims.claim(consumer: "c", as: member)
                try await bus.journal.jetStream.purge("SEGUE", filter: "SEGUE.k.f.c.>")
                let checkpoint = Checkpoint(
                    claim: claim, position: position, partition: claim.offsets.keys.first,
                    previous: nil, settled: position.offset)
                let progress = Batch([], checkpoint: checkpoint)
                // Not `fenced`, which ends an exclusive consumer: nobody has taken over.
                #expect(try await bus.code(of: progress) == .epoch)
                let next = try await bus.claims.claim(consumer: "c", as: member)
                #expect(next.ownerGeneration > claim.ownerGeneration)
                #expect(
                    try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: next, upTo: position))) == nil)
            }
        }
    }

    @Test func `An exclusive owner that was silent claims again, unless another member has taken over`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { owner, other in
                let position = try await owner.publish([1])
                let claim = try await owner.claims.claim(consumer: "c", as: .exclusive)
                let reserved = try await expel(claim, with: other.journal)
                func code(_ claim: ConsumerClaim, _ partition: Partition?) async throws -> BusError.Code? {
                    let checkpoint = Checkpoint(
                        claim: claim, position: position, partition: partition, previous: nil,
                        settled: position.offset)
                    return try await owner.code(of: Batch([], checkpoint: checkpoint))
                }
                // The second batch is not sent, because the process knows that the claim has ended.
                for _ in 0..<2 { #expect(try await code(claim, Partition.all[0]) == .epoch) }
                #expect(try await code(claim, nil) == .epoch)
                let next = try await owner.claims.claim(consumer: "c", as: claim.member)
                #expect(next.ownerGeneration > reserved)
                #expect(try await code(claim, Partition.all[0]) == .epoch)
                #expect(try await code(next, Partition.all[0]) == nil)
                _ = try await other.claims.claim(consumer: "c", as: .exclusive)
                for claim in [claim, next] { #expect(try await code(claim, Partition.all[1]) == .fenced) }
            }
        }
    }

    @Test func `Work under a claim that ended by silence fails with 'epoch', and the member claims again`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { other in
                let bus = try NATSEventBus(
                    address: "\(fixture.server.url)/SEGUE", source: "owner/1", logger: .silent, variables: [:])
                try await bus.whileOpen {
                    let claim = try await bus.claim(consumer: "c", as: .exclusive)
                    let error = await #expect(throws: BusError.self) {
                        try await withThrowingTaskGroup { group in
                            group.addTask {
                                try await bus.bus.consume(under: claim, [.type(Counted.self)]) { _ in [] }
                            }
                            _ = try await expel(claim, with: other.journal)
                            try await group.waitForAll()
                        }
                    }
                    #expect(error?.code == .epoch)
                }
            }
        }
    }

    /// Does what a steward does that has received no heartbeat from the process of an exclusive owner.
    /// - Returns: The owner generation of the new fences.
    private func expel(_ claim: ConsumerClaim, with journal: JournalConnection) async throws -> UInt64 {
        var reserved: UInt64 = 0
        try await ConsumerRecords(journal: journal).change(claim.consumer) { group in
            let next = try #require(group.expelling([claim.member.id])?.group)
            reserved = next.ownerGeneration
            return next
        }
        for partition in claim.offsets.keys {
            let owner = ConsumerPartition(claim.consumer, partition)
            let last = try await journal.read(FenceRecord.self, .fence(owner))
            _ = try await journal.raiseFence(of: owner, to: reserved, member: FenceRecord.nobody, after: last)
        }
        return reserved
    }

    @Test func `A fence is replaced only by one with a higher owner epoch`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let owner = ConsumerPartition("c", Partition.all[0])
                let (one, two) = (UUID(), UUID())
                func raise(_ epoch: UInt64, _ member: UUID) async throws -> (fence: FenceRecord, sequence: UInt64) {
                    // A server that lags behind has no fence yet.
                    try await bus.journal.raiseFence(of: owner, to: epoch, member: member, after: .absent)
                }
                let first = try await raise(2, one)
                let second = try await raise(3, two)
                #expect(second.fence.previous == 2 && second.sequence > first.sequence)
                for (epoch, member) in [(2, one), (3, one), (3, two)] as [(UInt64, UUID)] {
                    let kept = try await raise(epoch, member)
                    #expect(kept.fence == second.fence && kept.sequence == second.sequence)
                }
            }
        }
    }

    @Test func `Progress is not read forever if the servers lack a fence that a claim has written`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish([1])
                let records = ConsumerRecords(journal: bus.journal, patience: .milliseconds(100))
                let epochs = try await bus.journal.identity().epochs
                await #expect(throws: ConsumerRecords.FencesLost.self) {
                    try await records.progress(of: "c", ConsumerGroup(), in: epochs, fences: [Partition.all[0]: 1])
                }
            }
        }
    }

    @Test func `A member without a valid claim reports it after two leases, and its heartbeat until it has one`()
        async throws
    {
        let start = ContinuousClock.now
        var health = ClaimHealth(at: start)
        health.record("no leader")
        #expect(health.reportOnce(at: start + .seconds(9)) == nil)
        #expect(health.reportOnce(at: start + .seconds(12)) == "has had no valid claim for 12 s: no leader")
        #expect(health.reportOnce(at: start + .seconds(13)) == nil, "it is logged once")
        #expect(health.report(at: start + .seconds(13)) != nil)
        var member = ClaimMember(.shared, at: start)
        #expect(!member.isInOrder(hasLasted: false), "it has not claimed")
        let ownership = Ownership(ownerGeneration: 1, offsets: [:])
        _ = member.adopt(ownership, fences: [:], handled: HandledOffsets(ConsumerGroup(), in: JournalEpochs(1)), in: 1)
        #expect(member.isInOrder(hasLasted: false))
        let call = UUID()
        member.beginClaim(call)
        #expect(!member.isInOrder(hasLasted: true), "another claim may last for ever, although the group can be read")
        member.endClaim(call)
        let isFirst = member.recordLostFences()
        #expect(isFirst)
        #expect(!member.isInOrder(hasLasted: false))
        let wasReported = health.recordValid(at: start + .seconds(14))
        #expect(wasReported)
        #expect(health.report(at: start + .seconds(23)) == nil)
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let claim = try await bus.claims.claim(consumer: "c", as: .shared)
                #expect(await bus.claims.heartbeatMembers.first?.problem == nil)
                fixture.server.pause()
                var problem: String?
                while problem == nil {
                    try await Task.sleep(for: .milliseconds(50))
                    problem = await bus.claims.heartbeatMembers.first?.problem
                }
                fixture.server.resume()
                while await bus.claims.heartbeatMembers.first?.problem != nil {
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(
                    try await bus.claims.claim(consumer: "c", as: claim.member).ownerGeneration == claim.ownerGeneration
                )
            }
        }
    }

    @Test func `A consumer continues where it was when the servers have removed its records`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let claim = try await first.claims.claim(consumer: "counter", as: .exclusive)
                for number in 0..<20 { try await first.publish([number], subject: "session-\(number % 3)") }
                for message in try await first.read(under: claim).prefix(12) {
                    let checkpoint = Checkpoint(claim: claim, handled: Delivery(message))
                    try await first.publish(Batch([], checkpoint: checkpoint))
                }
                // As the servers do if the journal is too large: the oldest ones, of every kind.
                let messages = try await first.read(under: claim)
                let removed = StreamPosition(offset: try #require(messages[8].position).offset).sequence
                try await first.journal.jetStream.purge("SEGUE", before: Int(removed) + 1)
                #expect(try await first.journal.read(GroupRecord.self, .group(consumer: "counter")).sequence == 0)
                let handled = Checkpoint(claim: claim, upTo: try #require(messages[12].position))
                #expect(try await first.code(of: Batch([], checkpoint: handled)) == .epoch)
                let next = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(try await second.read(under: next).numbers == Array(12..<20))
                try await second.publish(
                    Batch([], checkpoint: Checkpoint(claim: next, upTo: try #require(messages[12].position))))
                let last = try await first.claims.claim(consumer: "counter", as: .exclusive)
                #expect(last.ownerGeneration > next.ownerGeneration)
                #expect(try await first.read(under: last).numbers == Array(13..<20))
            }
        }
    }

    @Test func `A claim records the position of the consumer, so that the next one reads less`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                for number in 0..<30 { try await first.publish([number], subject: "session-\(number % 3)") }
                let claim = try await first.claims.claim(consumer: "counter", as: .exclusive)
                let messages = try await first.read(under: claim)
                for (index, message) in messages.enumerated().prefix(25) {
                    let settled = index > 0 ? messages[index - 1].position?.offset : nil
                    let checkpoint = Checkpoint(
                        claim: claim, position: try #require(message.position), partition: message.partition,
                        previous: nil, settled: settled ?? 0)
                    try await first.publish(Batch([], checkpoint: checkpoint))
                }
                let next = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(try await second.read(under: next).numbers == Array(25..<30))
                let record = try await second.journal.read(GroupRecord.self, .group(consumer: "counter"))
                let group = try #require(record.existing(in: try await second.journal.identity().epochs))
                #expect(group.position == messages[23].position?.offset)
                // The progress before is not needed any more.
                let start = Int(HandledOffsets.start(of: group))
                try await second.journal.jetStream.purge("SEGUE", filter: "SEGUE.k.p.>", before: start)
                let last = try await first.claims.claim(consumer: "counter", as: .exclusive)
                #expect(try await first.read(under: last).numbers == Array(25..<30))
            }
        }
    }

    @Test func `Messages that retention removed are reported until a checkpoint is recorded`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let end = try await first.publish(0..<3)
                let earlier = try await first.claims.claim(consumer: "counter", as: .exclusive)
                #expect(earlier.cutOffs.isEmpty)
                // What the steward records before it removes messages.
                let cutOff = CutOff(type: Counted.type, count: 2, offsets: (end.offset - 2)...(end.offset - 1))
                let record = CutOffRecord().adding([cutOff], recordedAt: nil, progress: nil)
                _ = try await first.journal.write(record, .cutOffs(consumer: "counter"), after: 0)
                let reported = try await second.claims.claim(consumer: "counter", as: .exclusive)
                #expect(reported.cutOffs == [cutOff])
                let repeated = try await first.claims.claim(consumer: "counter", as: .exclusive)
                #expect(repeated.cutOffs == [cutOff])
                try await first.publish(Batch([], checkpoint: Checkpoint(claim: repeated, upTo: end)))
                #expect(try await second.claims.claim(consumer: "counter", as: .exclusive).cutOffs.isEmpty)
            }
        }
    }

    @Test func `A reader ends when its consumer is removed, or the record is lost`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let claim = try await first.claims.claim(consumer: "stopped", as: .exclusive)
                let forgotten = Latch()
                try await first.claims.withWatch(of: claim, progress: nil, onEnd: forgotten.open) { watch in
                    await first.claims.leave(consumer: "stopped", as: claim.member)
                    try await second.claims.forget(consumer: "stopped")
                    try await forgotten.waitUntilOpen()
                }
                let other = try await first.claims.claim(consumer: "lost", as: .exclusive)
                let lost = Latch()
                try await first.claims.withWatch(of: other, progress: nil, onEnd: lost.open) { watch in
                    #expect(!watch.isEnded)
                    try await first.journal.jetStream.purge("SEGUE", filter: "SEGUE.k.g.lost")
                    try await lost.waitUntilOpen()
                }
                let elsewhere = ConsumerClaim(
                    consumer: "lost", member: .exclusive, ownerGeneration: 1, epoch: other.epoch &+ 1, offsets: [:])
                let error = await #expect(throws: BusError.self) {
                    try await first.claims.withWatch(of: elsewhere, progress: nil, onEnd: {}) { _ in }
                }
                #expect(error?.code == .epoch)
            }
        }
    }

    @Test func `The claims and readers of a process end when it ends`() async throws {
        try await JournalFixture.run { fixture in
            let ended = Latch()
            let parts = try await fixture.withParts { bus in
                let claim = try await bus.claims.claim(consumer: "counter", as: .exclusive)
                return (bus, claim)
            }
            let error = await #expect(throws: BusError.self) {
                try await parts.0.claims.claim(consumer: "counter", as: .exclusive)
            }
            #expect(error?.code == .closed)
            let watching = await #expect(throws: BusError.self) {
                try await parts.0.claims.withWatch(of: parts.1, progress: nil, onEnd: ended.open) { _ in }
            }
            #expect(watching?.code == .closed)
            // Returns at once.
            await parts.0.claims.leave(consumer: "counter", as: parts.1.member)
            let query = try Envelope(Counted(number: 1), source: "x")
            let asking = await #expect(throws: BusError.self) {
                try await parts.0.queries.ask(query, timeout: .seconds(60))
            }
            #expect(asking?.code == .closed)
        }
    }
}
