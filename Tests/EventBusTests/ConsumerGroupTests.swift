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
        "an exclusive member that was displaced displaces nobody", arguments: [ConsumerMember.Mode.exclusive, .shared])
    func displaced(by mode: ConsumerMember.Mode) {
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
}

extension ConsumerGroup {
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
