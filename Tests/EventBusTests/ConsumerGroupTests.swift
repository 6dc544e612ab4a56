import EventBus
import Foundation
import Testing

@Suite("Consumer group")
struct ConsumerGroupTests {
    @Test("the first member of either kind gets all partitions", arguments: [ConsumerMember.exclusive, .shared])
    func first(_ member: ConsumerMember) {
        var group = ConsumerGroup()
        let ownership = group.claim(member)
        #expect(ownership.ownerEpoch == 1)
        #expect(ownership.offsets == Dictionary(uniqueKeysWithValues: Partition.all.map { ($0, 0) }))
    }

    @Test("a claim that is repeated changes nothing", arguments: [ConsumerMember.exclusive, .shared])
    func repeated(_ member: ConsumerMember) {
        var group = ConsumerGroup()
        let ownership = group.claim(member)
        let before = group
        #expect(group.claim(member) == ownership)
        #expect(group == before)
    }

    @Test("members that join and leave have as many as any other, and as few as possible move")
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

    @Test("more members than partitions: some have nothing, and take over when others leave")
    func crowd() throws {
        var group = ConsumerGroup()
        let members = (0..<Partition.count + 1).map { _ in ConsumerMember.shared }
        for member in members { _ = group.claim(member) }
        let idle = try #require(members.first { group.ownership(of: $0.id).offsets.isEmpty })
        #expect(group.claim(idle).ownerEpoch == 0)
        group.leave(try #require(members.first { $0 != idle }).id)
        #expect(group.ownership(of: idle.id).offsets.count == 1)
    }

    @Test("who loses a partition is fenced at once, who gains it records once it has claimed again")
    func fencing() throws {
        var group = ConsumerGroup()
        let (first, second) = (ConsumerMember.shared, ConsumerMember.shared)
        let all = group.claim(first)
        group.expect(accepts: 10, ownerEpoch: all.ownerEpoch)
        let half = group.claim(second)
        let moved = try #require(half.offsets.keys.first)
        let kept = try #require(Partition.all.first { !half.offsets.keys.contains($0) })
        #expect(half.offsets[moved] == 10)
        group.expect(refuses: 11, of: moved, ownerEpoch: all.ownerEpoch)
        group.expect(accepts: 11, of: kept, ownerEpoch: all.ownerEpoch)
        group.expect(refuses: 12, of: kept, ownerEpoch: half.ownerEpoch)
        group.expect(accepts: 12, of: moved, ownerEpoch: half.ownerEpoch)
        #expect(group.position == 11)

        group.leave(first.id)
        #expect(group.ownership(of: second.id).ownerEpoch == 0)
        group.expect(refuses: 13, of: kept, ownerEpoch: all.ownerEpoch)
        group.expect(refuses: 13, of: kept, ownerEpoch: half.ownerEpoch)
        let successor = group.claim(second)
        #expect(successor.offsets[kept] == 11)
        #expect(successor.offsets[moved] == 12)
        group.expect(accepts: 13, of: kept, ownerEpoch: successor.ownerEpoch)
        group.expect(refuses: 13, of: moved, ownerEpoch: half.ownerEpoch)
    }

    @Test("an exclusive member takes over from those that share, and they from it")
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
        group.expect(refuses: 1, ownerEpoch: exclusive.ownerEpoch)
    }

    @Test(
        "an exclusive member that was displaced displaces nobody", arguments: [ConsumerMode.exclusive, .shared])
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

    @Test("an exclusive member that leaves stays the owner: nobody else is there to take over")
    func exclusiveLeaves() {
        var group = ConsumerGroup()
        let member = ConsumerMember.exclusive
        let ownership = group.claim(member)
        group.expect(accepts: 5, ownerEpoch: ownership.ownerEpoch)
        group.leave(member.id)
        #expect(group.claim(.exclusive).offsets.values.allSatisfy { $0 == 5 })
    }

    @Test("when the last one leaves, what was handled is remembered")
    func empty() {
        var group = ConsumerGroup()
        let member = ConsumerMember.shared
        group.expect(accepts: 7, ownerEpoch: group.claim(member).ownerEpoch)
        group.leave(member.id)
        #expect(group.position == 7)
        #expect(group.owners.allSatisfy { $0 == nil })
        #expect(group.claim(.shared).offsets.values.allSatisfy { $0 == 7 })
    }

    @Test("progress that is recorded late does not take anything back")
    func lateProgress() {
        var group = ConsumerGroup()
        let ownership = group.claim(.exclusive)
        group.expect(accepts: 9, ownerEpoch: ownership.ownerEpoch)
        group.expect(accepts: 4, ownerEpoch: ownership.ownerEpoch)
        #expect(group.position == 9)
    }

    @Test("progress in one partition counts for the others only as far as they are settled")
    func settled() throws {
        var group = ConsumerGroup()
        let member = ConsumerMember.exclusive
        let ownership = group.claim(member)
        let partition = try #require(ownership.offsets.keys.first)
        let isRecorded = group.record(9, partition: partition, settled: 4, ownerEpoch: ownership.ownerEpoch)
        #expect(isRecorded)
        let offsets = group.ownership(of: member.id).offsets
        #expect(offsets[partition] == 9)
        #expect(offsets.filter { $0.key != partition }.values.allSatisfy { $0 == 4 })
        #expect(group.position == 4)
    }

    @Test("a message at hand in a slow partition is not handled, however far the checkpoints of the others go")
    func slowPartition() throws {
        var group = ConsumerGroup()
        let owner = group.claim(.exclusive).ownerEpoch
        let (fast, slow, idle) = (Partition.all[1], Partition.all[2], Partition.all[3])
        let progress = ConsumerProgress()
        progress.oldestUnfinished = 5
        for offset in 6...20 as ClosedRange<UInt64> {
            let isRecorded = group.record(
                offset, partition: fast, settled: progress.settled(delivered: 20), ownerEpoch: owner)
            #expect(isRecorded)
        }
        #expect([fast, slow, idle].map { group.handled($0) } == [20, 4, 4])
        #expect(group.position == 4)
        progress.oldestUnfinished = nil
        let isRecorded = group.record(
            5, partition: slow, settled: progress.settled(delivered: 20), ownerEpoch: owner)
        #expect(isRecorded)
        #expect(group.position == 20, "settled may be greater than the offset of the message")
    }

    @Test("the owner epochs of a consumer go on from those of a removed one")
    func afterRemoval() {
        var group = ConsumerGroup(after: 7)
        #expect(group.claim(.exclusive).ownerEpoch == 8)
        group.expect(refuses: 1, ownerEpoch: 7)
    }

    @Test("an owner epoch that nobody was given records nothing")
    func unknownEpoch() {
        var group = ConsumerGroup()
        group.expect(refuses: 1, ownerEpoch: 0)
        _ = group.claim(.exclusive)
        group.expect(refuses: 1, ownerEpoch: 0)
        group.expect(refuses: 1, ownerEpoch: 2)
    }

    @Test("a group that was kept goes on as it was")
    func kept() {
        var group = ConsumerGroup()
        let members = [ConsumerMember.shared, .shared]
        for member in members { _ = group.claim(member) }
        group.expect(accepts: 3, ownerEpoch: group.ownership(of: members[1].id).ownerEpoch)
        let restored = ConsumerGroup(
            ownerEpoch: group.ownerEpoch, shares: group.shares, progress: group.progress, members: group.members)
        #expect(restored == group)
        #expect(restored.ownership(of: members[1].id) == group.ownership(of: members[1].id))
    }

    @Test("a silent exclusive owner keeps its partitions, which it must claim anew")
    func expelled() throws {
        var group = ConsumerGroup()
        let owner = ConsumerMember.exclusive
        let first = group.claim(owner)
        group.expect(accepts: 5, ownerEpoch: first.ownerEpoch)
        let (next, freed) = try #require(group.expelling([owner.id]))
        #expect(freed == Partition.all)
        #expect(next.ownership(of: owner.id).ownerEpoch == 0)
        #expect(next.position == 5)
        #expect(next.expelling([owner.id]) == nil)
        var last = next
        let second = last.claim(owner)
        #expect(second.ownerEpoch > next.ownerEpoch)
        #expect(second.offsets.count == Partition.count)
    }

    @Test("silent shared members lose their partitions under an owner epoch that no claim gets")
    func expelledMember() throws {
        var group = ConsumerGroup()
        let (silent, other) = (ConsumerMember.shared, ConsumerMember.shared)
        _ = group.claim(silent)
        _ = group.claim(other)
        let before = group.claim(silent)
        let (next, freed) = try #require(group.expelling([silent.id]))
        #expect(Set(freed) == Set(before.offsets.keys))
        #expect(next.members == [other.id] && next.ownerEpoch == group.ownerEpoch + 1)
        #expect(next.owners.allSatisfy { $0 == other.id })
    }

    @Test("a claim is refused beyond the limits of consumers and of members, but not one of a member")
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

    @Test("a claim gets an owner epoch above the one that its bus cannot use, and only if it has partitions")
    func floor() throws {
        let member = ConsumerMember.exclusive
        let (group, ownership) = try ConsumerGroup().claimed(by: member, of: "worker", otherConsumers: nil) { _ in 9 }
        #expect(ownership.ownerEpoch == 10 && group.ownerEpoch == 10)
        #expect(group.isCurrent(claim(member, ownership), in: 1))
        #expect(!group.isCurrent(claim(member, ownership), in: 2))
        // A group that was read before the claim was made.
        #expect(ConsumerGroup(owner: member).isCurrent(claim(member, ownership), in: 1, mayBeOlder: true))
        #expect(!ConsumerGroup(owner: member).isCurrent(claim(member, ownership), in: 1))
    }

    @Test("a consumer is in use while it has members, or while the process of its exclusive owner may be alive")
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

    @Test("the time until the owner is known is rounded up to seconds", arguments: [(1, 1), (1000, 1), (4001, 5)])
    func unknown(milliseconds: Int, seconds: Int) {
        let owned = ConsumerGroup(owner: .exclusive)
        let refusal = #expect(throws: LedgerRefusal.self) {
            try owned.requireUnused("worker", owner: .unknown(.milliseconds(milliseconds)))
        }
        #expect(refusal?.message.hasSuffix("try again after \(seconds) s") == true)
    }

    private func claim(_ member: ConsumerMember, _ ownership: Ownership) -> ConsumerClaim {
        ConsumerClaim(
            consumer: "worker", member: member, ownerEpoch: ownership.ownerEpoch, epoch: 1, offsets: ownership.offsets)
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
        accepts offset: UInt64, of partition: Partition? = nil, ownerEpoch: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isRecorded = record(offset, partition: partition, ownerEpoch: ownerEpoch)
        #expect(isRecorded, sourceLocation: sourceLocation)
    }

    fileprivate mutating func expect(
        refuses offset: UInt64, of partition: Partition? = nil, ownerEpoch: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let before = self
        let isRecorded = record(offset, partition: partition, ownerEpoch: ownerEpoch)
        #expect(!isRecorded && self == before, sourceLocation: sourceLocation)
    }
}
