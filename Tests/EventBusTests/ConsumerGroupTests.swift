import EventBus
import Foundation
import Testing

@Suite("Consumer group")
struct ConsumerGroupTests {
    @Test(
        "The first member gets all partitions, whether it is exclusive or shared",
        arguments: [ConsumerMember.exclusive, .shared])
    func first(_ member: ConsumerMember) {
        var group = ConsumerGroup()
        let ownership = group.claim(member)
        #expect(ownership.ownerGeneration == 1)
        #expect(ownership.offsets == Dictionary(uniqueKeysWithValues: Partition.all.map { ($0, 0) }))
    }

    @Test("A claim that is repeated changes nothing", arguments: [ConsumerMember.exclusive, .shared])
    func repeated(_ member: ConsumerMember) {
        var group = ConsumerGroup()
        let ownership = group.claim(member)
        let before = group
        #expect(group.claim(member) == ownership)
        #expect(group == before)
    }

    @Test("Shared members have equal numbers of partitions, and as few as possible move when one joins or leaves")
    func balance() {
        var group = ConsumerGroup()
        let members = (0..<7).map { _ in ConsumerMember.shared }
        for (index, member) in members.enumerated() {
            let before = group.owners
            _ = group.claim(member)
            #expect(group.isBalanced(among: index + 1))
            #expect(group.moved(since: before).allSatisfy { group.owners[$0] == member.id })
        }
        for (index, member) in members.enumerated().dropLast() {
            let before = group.owners
            group.leave(member.id)
            #expect(group.isBalanced(among: members.count - index - 1))
            #expect(group.moved(since: before).allSatisfy { before[$0] == member.id })
        }
    }

    @Test("A member beyond the number of partitions gets one when another member leaves")
    func crowd() throws {
        var group = ConsumerGroup()
        let members = (0..<Partition.count + 1).map { _ in ConsumerMember.shared }
        for member in members { _ = group.claim(member) }
        let idle = try #require(members.first { group.ownership(of: $0.id).offsets.isEmpty })
        #expect(group.claim(idle).ownerGeneration == 0)
        group.leave(try #require(members.first { $0 != idle }).id)
        #expect(group.ownership(of: idle.id).offsets.count == 1)
    }

    @Test("A member that loses a partition is fenced at once, and its successor must claim before it records")
    func fencing() throws {
        var group = ConsumerGroup()
        let (first, second) = (ConsumerMember.shared, ConsumerMember.shared)
        let all = group.claim(first)
        group.expect(accepts: 10, ownerGeneration: all.ownerGeneration)
        let half = group.claim(second)
        let moved = try #require(half.offsets.keys.first)
        let kept = try #require(Partition.all.first { !half.offsets.keys.contains($0) })
        #expect(half.offsets[moved] == 10)
        group.expect(refuses: 11, of: moved, ownerGeneration: all.ownerGeneration)
        group.expect(accepts: 11, of: kept, ownerGeneration: all.ownerGeneration)
        group.expect(refuses: 12, of: kept, ownerGeneration: half.ownerGeneration)
        group.expect(accepts: 12, of: moved, ownerGeneration: half.ownerGeneration)
        #expect(group.position == 11)

        group.leave(first.id)
        #expect(group.ownership(of: second.id).ownerGeneration == 0)
        group.expect(refuses: 13, of: kept, ownerGeneration: all.ownerGeneration)
        group.expect(refuses: 13, of: kept, ownerGeneration: half.ownerGeneration)
        let successor = group.claim(second)
        #expect(successor.offsets[kept] == 11)
        #expect(successor.offsets[moved] == 12)
        group.expect(accepts: 13, of: kept, ownerGeneration: successor.ownerGeneration)
        group.expect(refuses: 13, of: moved, ownerGeneration: half.ownerGeneration)
    }

    @Test("An exclusive member takes over from shared members, and a shared member from an exclusive one")
    func modes() {
        var group = ConsumerGroup()
        let (first, second) = (ConsumerMember.shared, ConsumerMember.shared)
        _ = group.claim(first)
        _ = group.claim(second)
        let exclusive = group.claim(.exclusive)
        #expect(exclusive.offsets.count == Partition.count)
        #expect(group.members.isEmpty)
        #expect(group.ownership(of: first.id).offsets.isEmpty)
        let shared = group.claim(first)
        #expect(shared.offsets.count == Partition.count)
        group.expect(refuses: 1, ownerGeneration: exclusive.ownerGeneration)
    }

    @Test(
        "A displaced exclusive member cannot take over again", arguments: [ConsumerMode.exclusive, .shared])
    func displaced(by mode: ConsumerMode) {
        var group = ConsumerGroup()
        let (first, second) = (ConsumerMember.exclusive, ConsumerMember(mode))
        _ = group.claim(first)
        let ownership = group.claim(second)
        #expect(group.isDisplaced(first))
        #expect(group.claim(first).offsets.isEmpty)
        #expect(group.ownership(of: second.id) == ownership)
        for _ in 0..<100 { _ = group.claim(.exclusive) }
        #expect(group.displaced.count == 16)
    }

    @Test("An exclusive member that leaves is succeeded by the next one at the same position")
    func exclusiveLeaves() {
        var group = ConsumerGroup()
        let member = ConsumerMember.exclusive
        let ownership = group.claim(member)
        group.expect(accepts: 5, ownerGeneration: ownership.ownerGeneration)
        group.leave(member.id)
        #expect(group.claim(.exclusive).offsets.values.allSatisfy { $0 == 5 })
    }

    @Test("The progress of a group is kept when its last member leaves")
    func empty() {
        var group = ConsumerGroup()
        let member = ConsumerMember.shared
        group.expect(accepts: 7, ownerGeneration: group.claim(member).ownerGeneration)
        group.leave(member.id)
        #expect(group.position == 7)
        #expect(group.owners.allSatisfy { $0 == nil })
        #expect(group.claim(.shared).offsets.values.allSatisfy { $0 == 7 })
    }

    @Test("Progress that is recorded late does not move the position back")
    func lateProgress() {
        var group = ConsumerGroup()
        let ownership = group.claim(.exclusive)
        group.expect(accepts: 9, ownerGeneration: ownership.ownerGeneration)
        group.expect(accepts: 4, ownerGeneration: ownership.ownerGeneration)
        #expect(group.position == 9)
    }

    @Test("Progress in one partition counts for the others only up to the low watermark")
    func settled() throws {
        var group = ConsumerGroup()
        let member = ConsumerMember.exclusive
        let ownership = group.claim(member)
        let partition = try #require(ownership.offsets.keys.first)
        let isRecorded = group.record(9, partition: partition, settled: 4, ownerGeneration: ownership.ownerGeneration)
        #expect(isRecorded)
        let offsets = group.ownership(of: member.id).offsets
        #expect(offsets[partition] == 9)
        #expect(offsets.filter { $0.key != partition }.values.allSatisfy { $0 == 4 })
        #expect(group.position == 4)
    }

    @Test("An unfinished message of a slow partition does not count as handled, however far the others are")
    func slowPartition() throws {
        var group = ConsumerGroup()
        let owner = group.claim(.exclusive).ownerGeneration
        let (fast, slow, idle) = (Partition.all[1], Partition.all[2], Partition.all[3])
        let progress = ConsumerProgress()
        progress.oldestUnfinished = 5
        for offset in 6...20 as ClosedRange<UInt64> {
            let isRecorded = group.record(
                offset, partition: fast, settled: progress.settled(delivered: 20), ownerGeneration: owner)
            #expect(isRecorded)
        }
        #expect([fast, slow, idle].map { group.handled($0) } == [20, 4, 4])
        #expect(group.position == 4)
        progress.oldestUnfinished = nil
        let isRecorded = group.record(
            5, partition: slow, settled: progress.settled(delivered: 20), ownerGeneration: owner)
        #expect(isRecorded)
        #expect(group.position == 20, "settled may be greater than the offset of the message")
    }

    @Test("The owner generations of a consumer continue after those of a removed one")
    func afterRemoval() {
        var group = ConsumerGroup(after: 7)
        #expect(group.claim(.exclusive).ownerGeneration == 8)
        group.expect(refuses: 1, ownerGeneration: 7)
    }

    @Test("Progress under an owner generation that no claim has is refused")
    func unknownEpoch() {
        var group = ConsumerGroup()
        group.expect(refuses: 1, ownerGeneration: 0)
        _ = group.claim(.exclusive)
        group.expect(refuses: 1, ownerGeneration: 0)
        group.expect(refuses: 1, ownerGeneration: 2)
    }

    @Test("A restored group equals the one that was saved")
    func kept() {
        var group = ConsumerGroup()
        let members = [ConsumerMember.shared, .shared]
        for member in members { _ = group.claim(member) }
        group.expect(accepts: 3, ownerGeneration: group.ownership(of: members[1].id).ownerGeneration)
        let restored = ConsumerGroup(
            ownerGeneration: group.ownerGeneration, shares: group.shares, progress: group.progress,
            members: group.members)
        #expect(restored == group)
        #expect(restored.ownership(of: members[1].id) == group.ownership(of: members[1].id))
    }

    @Test("A silent exclusive owner keeps its partitions, and must claim again")
    func expelled() throws {
        var group = ConsumerGroup()
        let owner = ConsumerMember.exclusive
        let first = group.claim(owner)
        group.expect(accepts: 5, ownerGeneration: first.ownerGeneration)
        let (next, freed) = try #require(group.expelling([owner.id]))
        #expect(freed == Partition.all)
        #expect(next.ownership(of: owner.id).ownerGeneration == 0)
        #expect(next.position == 5)
        #expect(next.expelling([owner.id]) == nil)
        var last = next
        let second = last.claim(owner)
        #expect(second.ownerGeneration > next.ownerGeneration)
        #expect(second.offsets.count == Partition.count)
    }

    @Test("Silent shared members lose their partitions, under an owner generation that no claim gets")
    func expelledMember() throws {
        var group = ConsumerGroup()
        let (silent, other) = (ConsumerMember.shared, ConsumerMember.shared)
        _ = group.claim(silent)
        _ = group.claim(other)
        let before = group.claim(silent)
        let (next, freed) = try #require(group.expelling([silent.id]))
        #expect(Set(freed) == Set(before.offsets.keys))
        #expect(next.members == [other.id] && next.ownerGeneration == group.ownerGeneration + 1)
        #expect(next.owners.allSatisfy { $0 == other.id })
    }

    @Test("A claim beyond the limits of consumers or members is refused, and a repeated one is not")
    func limits() throws {
        var group = ConsumerGroup()
        let members = (0..<ConsumerLimits.members).map { _ in ConsumerMember.shared }
        for member in members {
            group = try group.claimed(by: member, of: "worker", otherConsumers: nil).group
        }
        _ = try group.claimed(by: members[0], of: "worker", otherConsumers: nil)
        let refusal = #expect(throws: LedgerRefusal.self) {
            try group.claimed(by: .shared, of: "worker", otherConsumers: nil)
        }
        #expect(refusal?.reason == .full)
        _ = try group.claimed(by: .exclusive, of: "worker", otherConsumers: ConsumerLimits.consumers - 1)
        let last = #expect(throws: LedgerRefusal.self) {
            try group.claimed(by: .exclusive, of: "worker", otherConsumers: ConsumerLimits.consumers)
        }
        #expect(last?.reason == .full)
    }

    @Test("A claim gets a higher owner generation than those that its bus cannot use")
    func floor() throws {
        let member = ConsumerMember.exclusive
        let (group, ownership) = try ConsumerGroup().claimed(by: member, of: "worker", otherConsumers: nil) { _ in 9 }
        #expect(ownership.ownerGeneration == 10 && group.ownerGeneration == 10)
        #expect(group.isCurrent(claim(member, ownership), in: 1))
        #expect(!group.isCurrent(claim(member, ownership), in: 2))
        // A group that was read before the claim was made.
        #expect(ConsumerGroup(owner: member).isCurrent(claim(member, ownership), in: 1, mayBeOlder: true))
        #expect(!ConsumerGroup(owner: member).isCurrent(claim(member, ownership), in: 1))
    }

    @Test("A consumer is in use while it has members, or while its exclusive owner's process may be alive")
    func unused() throws {
        var shared = ConsumerGroup()
        _ = shared.claim(.shared)
        #expect(throws: LedgerRefusal.self) { try shared.requireUnused("worker", owner: .ended) }
        let owned = ConsumerGroup(owner: .exclusive)
        try owned.requireUnused("worker", owner: .ended)
        for owner in [OwnerLiveness.alive, .unknown(.seconds(5))] {
            #expect(throws: LedgerRefusal.self) { try owned.requireUnused("worker", owner: owner) }
            try ConsumerGroup().requireUnused("worker", owner: owner)
        }
    }

    @Test(
        "The time until an owner's state is known is rounded up to seconds", arguments: [(1, 1), (1000, 1), (4001, 5)])
    func unknown(milliseconds: Int, seconds: Int) {
        let owned = ConsumerGroup(owner: .exclusive)
        let refusal = #expect(throws: LedgerRefusal.self) {
            try owned.requireUnused("worker", owner: .unknown(.milliseconds(milliseconds)))
        }
        #expect(refusal?.message.hasSuffix("try again after \(seconds) s") == true)
    }

    private func claim(_ member: ConsumerMember, _ ownership: Ownership) -> ConsumerClaim {
        ConsumerClaim(
            consumer: "worker", member: member, ownerGeneration: ownership.ownerGeneration, epoch: 1,
            offsets: ownership.offsets)
    }
}

extension ConsumerGroup {
    fileprivate init(owner: ConsumerMember) {
        self.init()
        _ = claim(owner)
    }

    fileprivate func isBalanced(among count: Int) -> Bool {
        let owned = Dictionary(grouping: owners, by: \.self).mapValues(\.count)
        return owned.count == count && owned.values.allSatisfy { [0, 1].contains($0 - Partition.count / count) }
    }

    fileprivate func moved(since before: [UUID?]) -> [Int] {
        owners.indices.filter { owners[$0] != before[$0] }
    }

    fileprivate mutating func expect(
        accepts offset: UInt64, of partition: Partition? = nil, ownerGeneration: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isRecorded = record(offset, partition: partition, ownerGeneration: ownerGeneration)
        #expect(isRecorded, sourceLocation: sourceLocation)
    }

    fileprivate mutating func expect(
        refuses offset: UInt64, of partition: Partition? = nil, ownerGeneration: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let before = self
        let isRecorded = record(offset, partition: partition, ownerGeneration: ownerGeneration)
        #expect(!isRecorded && self == before, sourceLocation: sourceLocation)
    }
}
