import EventBus
import Foundation
import TestSupport
import Testing

@Suite("Random histories of a consumer group")
struct ConsumerGroupHistoryTests {
    @Test(
        "Each partition has at most one owner that records progress, and no progress is lost", arguments: UInt64(0)..<40
    )
    func history(seed: UInt64) throws {
        var history = ConsumerGroupHistory(seed: seed)
        for step in 0..<300 {
            history.advance()
            let broken = history.brokenPromise()
            #expect(broken == nil, "after step \(step) of seed \(seed)")
            if broken != nil { break }
        }
        // Checks that the history recorded and refused enough progress to be a meaningful test.
        #expect(history.recorded > 10 && history.refused > 10)
    }
}

/// A random history of one durable consumer, and a simple model of the expected state.
struct ConsumerGroupHistory {
    private var group = ConsumerGroup()
    private var random: SeededGenerator
    private let members: [ConsumerMember]
    /// The offset up to which each partition is handled, according to the accepted progress.
    private var handled = Array(repeating: UInt64(0), count: Partition.count)
    /// The ownerships that claims have returned to members. Some are outdated.
    private var beliefs: [(member: ConsumerMember, ownership: Ownership)] = []
    private var offset: UInt64 = 10
    private var steps = 0
    private(set) var recorded = 0
    private(set) var refused = 0

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        members = (0..<6).map { index in
            ConsumerMember(index == 0 ? .exclusive : .shared, id: UUID(seeded: &random))
        }
        self.random = random
    }

    mutating func advance() {
        steps += 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            // The exclusive member claims rarely, because its claim ends the sharing.
            var member = members[Int.random(in: -40..<members.count * 20, using: &random).clamped(to: members.count)]
            // The exclusive member is a new one each time, because a displaced one stays displaced.
            if member.mode == .exclusive { member = ConsumerMember(.exclusive, id: UUID(seeded: &random)) }
            beliefs.append((member, group.claim(member)))
        case 3:
            group.leave(members[Int.random(in: 0..<members.count, using: &random)].id)
        default: record()
        }
    }

    private mutating func record() {
        guard let belief = beliefs.suffix(12).randomElement(using: &random),
            let partition = belief.ownership.offsets.keys.sorted().randomElement(using: &random)
        else { return }
        offset += 5
        // Some progress is late, and some arrives while earlier messages of other partitions are still missing.
        let late = offset - UInt64.random(in: 0...8, using: &random)
        let settled = late - UInt64.random(in: 0...3, using: &random)
        let epoch = belief.ownership.ownerGeneration
        let covered = group.shares.indices.filter { group.shares[$0].ownerGeneration == epoch }
        guard group.record(late, partition: partition, settled: settled, ownerGeneration: epoch) else {
            return refused += 1
        }
        recorded += 1
        for index in covered { handled[index] = max(handled[index], settled) }
        handled[Int(partition.number)] = max(handled[Int(partition.number)], late)
    }

    /// A description of a violated rule; nil if no rule is violated.
    func brokenPromise() -> String? {
        let owners = Set(group.owners.compactMap(\.self))
        let ownerships = owners.map { group.ownership(of: $0) }
        if group.position != handled.min() { return "the position is not the least that is handled" }
        if !group.members.isEmpty, group.owners.contains(nil) { return "there are members, but a partition is free" }
        for ownership in ownerships {
            if ownership.offsets.contains(where: { $1 != handled[Int($0.number)] }) {
                return "a partition is not as it was handled"
            }
        }
        let epochs = ownerships.map(\.ownerGeneration).filter { $0 > 0 }
        if Set(epochs).count < epochs.count { return "two members have the same owner generation" }
        return wrongRecorders(of: Partition.all[steps % Partition.count])
    }

    /// Checks that only the current owner of a partition can record progress, and not a member that owned it recently.
    private func wrongRecorders(of partition: Partition) -> String? {
        let believers = Set(beliefs.suffix(20).map(\.ownership.ownerGeneration) + group.shares.map(\.ownerGeneration))
        let recorders = believers.filter { epoch in
            var group = group
            return group.record(offset + 1, partition: partition, ownerGeneration: epoch)
        }
        let owner = group.owners[Int(partition.number)].map { group.ownership(of: $0).ownerGeneration } ?? 0
        if recorders.count > 1 { return "\(recorders) all record in partition \(partition.number)" }
        if owner > 0, recorders != [owner] { return "the owner of partition \(partition.number) does not record" }
        return nil
    }
}

extension ConsumerGroup {
    /// The owners of the partitions, by partition number.
    var owners: [UUID?] { shares.map(\.member) }
}

extension Int {
    /// Maps the number to an index in `0..<count`. All negative numbers give 0.
    fileprivate func clamped(to count: Int) -> Int { self < 0 ? 0 : self % (count - 1) + 1 }
}

extension UUID {
    fileprivate init(seeded random: inout SeededGenerator) {
        self.init(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.loadUnaligned(as: uuid_t.self) })
    }
}
