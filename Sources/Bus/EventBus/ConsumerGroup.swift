package import Foundation

/// Which instance of a durable consumer owns which partitions, and how far each partition is handled.
///
/// A pure value: whoever serves a bus keeps one for each consumer and journals what changes. A partition has one owner at a
/// time; the *owner epoch* under which it is owned grows with every change, and fences whoever owned it before.
package struct ConsumerGroup: Hashable, Sendable {
    /// One partition.
    package struct Share: Hashable, Sendable {
        /// Nil while nobody is there.
        package var member: UUID?
        /// 0 while its member has not taken it up.
        package var ownerEpoch: UInt64
        /// Handled up to here, not counting what its owner has recorded.
        package var offset: UInt64

        package init(member: UUID? = nil, ownerEpoch: UInt64 = 0, offset: UInt64 = 0) {
            self.member = member
            self.ownerEpoch = ownerEpoch
            self.offset = offset
        }
    }

    /// The last owner epoch that was given.
    package private(set) var ownerEpoch: UInt64
    /// By number of the partition.
    package private(set) var shares: [Share]
    /// What owners have recorded, by owner epoch: it counts for all partitions that are owned under it.
    package private(set) var progress: [UInt64: UInt64]
    /// The members that share. An exclusive owner is not among them.
    package private(set) var members: Set<UUID>
    /// The exclusive members that others have displaced last: their claims may be under way a second time.
    package private(set) var displaced: [UUID]

    /// How many of them are remembered.
    private static let displacedCount = 16

    /// - Parameter ownerEpoch: the greatest that a consumer had which was removed. A new one may have its name: what the
    ///   owner of the removed one publishes late must not count for the new one.
    package init(after ownerEpoch: UInt64 = 0) {
        self.init(
            ownerEpoch: ownerEpoch, shares: Array(repeating: Share(), count: Partition.count), progress: [:],
            members: [])
    }

    /// A group as it was kept.
    package init(
        ownerEpoch: UInt64, shares: [Share], progress: [UInt64: UInt64], members: Set<UUID>, displaced: [UUID] = []
    ) {
        self.ownerEpoch = ownerEpoch
        self.shares = shares
        self.progress = progress
        self.members = members
        self.displaced = displaced
    }

    /// Whether a claim of this member comes too late: another one owns the consumer since, and keeps it.
    package func isDisplaced(_ member: ConsumerMember) -> Bool {
        member.mode == .exclusive && displaced.contains(member.id)
    }

    /// Gives a member what is its own, and fences who owned it before. One that is displaced gets nothing.
    package mutating func claim(_ member: ConsumerMember) -> Ownership {
        guard !isDisplaced(member) else { return ownership(of: member.id) }
        if let owner = exclusiveOwner, owner != member.id {
            displaced = (displaced + [owner]).suffix(Self.displacedCount)
        }
        switch member.mode {
        case .exclusive:
            members = []
            assign(Array(shares.indices), to: member.id)
        case .shared:
            join(member.id)
        }
        if ownership(of: member.id).ownerEpoch == 0 {
            takeUp(member.id)
        }
        return ownership(of: member.id)
    }

    /// What a member owns. Its owner epoch is 0 when it was given partitions that it has not claimed.
    package func ownership(of member: UUID) -> Ownership {
        let owned = shares.indices.filter { shares[$0].member == member }
        let epochs = Set(owned.map { shares[$0].ownerEpoch })
        let offsets = owned.map { (Partition.all[$0], handled($0)) }
        return Ownership(
            ownerEpoch: epochs.count == 1 ? epochs.first ?? 0 : 0, offsets: Dictionary(uniqueKeysWithValues: offsets))
    }

    /// Takes a member out; the others get its partitions.
    package mutating func leave(_ member: UUID) {
        guard members.remove(member) != nil else { return }
        assign(shares.indices.filter { shares[$0].member == member }, to: nil)
        balance()
    }

    /// Records what an owner has handled.
    /// - Parameters:
    ///   - offset: of the message that was handled: with it all before it in its partition.
    ///   - partition: of that message; nil for all that is owned.
    ///   - settled: up to which everything is handled in all that is owned; up to `offset` unless said. On a feed that
    ///     drops, a message of one partition may come before an earlier one of another.
    /// - Returns: false when the partition is no longer owned under this owner epoch.
    package mutating func record(
        _ offset: UInt64, partition: Partition?, settled: UInt64? = nil, ownerEpoch: UInt64
    ) -> Bool {
        guard isOwned(partition, under: ownerEpoch) else { return false }
        // What is settled is behind the message only when that came from a feed: else one number tells it all.
        if let partition, let settled, settled < offset {
            let index = Int(partition.number)
            shares[index].offset = max(shares[index].offset, offset)
        }
        progress[ownerEpoch] = max(progress[ownerEpoch] ?? 0, partition == nil ? offset : settled ?? offset)
        return true
    }

    /// Whether a partition, or for nil any at all, is owned under an owner epoch.
    package func isOwned(_ partition: Partition?, under ownerEpoch: UInt64) -> Bool {
        guard ownerEpoch > 0 else { return false }
        guard let partition else { return shares.contains { $0.ownerEpoch == ownerEpoch } }
        return shares[Int(partition.number)].ownerEpoch == ownerEpoch
    }

    /// Up to where every partition is handled.
    package var position: UInt64 { shares.indices.map(handled).min() ?? 0 }

    /// Up to where a partition is handled.
    package func handled(_ partition: Partition) -> UInt64 { handled(Int(partition.number)) }

    private func handled(_ index: Int) -> UInt64 {
        max(shares[index].offset, progress[shares[index].ownerEpoch] ?? 0)
    }

    private var exclusiveOwner: UUID? {
        shares.first?.member.flatMap { members.contains($0) ? nil : $0 }
    }

    private mutating func join(_ member: UUID) {
        guard members.insert(member).inserted else { return }
        balance()
    }

    /// Lets every member have as many as any other, give or take one, and moves as few as that takes.
    private mutating func balance() {
        guard !members.isEmpty else { return }
        var owned: [UUID: [Int]] = [:]
        var free: [Int] = []
        for index in shares.indices {
            if let member = shares[index].member, members.contains(member) {
                owned[member, default: []].append(index)
            } else {
                free.append(index)
            }
        }
        let (least, more) = shares.count.quotientAndRemainder(dividingBy: members.count)
        let byCount = members.sorted { ($1.count(owned), $0.uuidString) < ($0.count(owned), $1.uuidString) }
        let quotas = zip(byCount, byCount.indices).map { ($0, least + ($1 < more ? 1 : 0)) }
        for (member, quota) in quotas {
            free += (owned[member] ?? []).dropFirst(quota)
        }
        for (member, quota) in quotas {
            let missing = max(0, quota - member.count(owned))
            assign(Array(free.prefix(missing)), to: member)
            free.removeFirst(min(missing, free.count))
        }
    }

    /// Who had them is fenced at once; who gets them takes them up with its next claim.
    private mutating func assign(_ indices: [Int], to member: UUID?) {
        for index in indices where shares[index].member != member {
            shares[index] = Share(member: member, ownerEpoch: 0, offset: handled(index))
        }
        forgetProgress()
    }

    /// Puts all that a member has under one owner epoch, so that it reads them in one go from the position of the last.
    private mutating func takeUp(_ member: UUID) {
        guard shares.contains(where: { $0.member == member }) else { return }
        ownerEpoch += 1
        for index in shares.indices where shares[index].member == member {
            shares[index] = Share(member: member, ownerEpoch: ownerEpoch, offset: handled(index))
        }
        forgetProgress()
    }

    private mutating func forgetProgress() {
        let current = Set(shares.map(\.ownerEpoch))
        progress = progress.filter { current.contains($0.key) }
    }
}

extension UUID {
    fileprivate func count(_ owned: [UUID: [Int]]) -> Int { owned[self]?.count ?? 0 }
}

/// What a member of a durable consumer owns.
package struct Ownership: Hashable, Sendable {
    /// 0 when there is nothing, or something that it must claim first.
    package let ownerEpoch: UInt64
    /// Up to where each partition is handled.
    package let offsets: [Partition: UInt64]

    package init(ownerEpoch: UInt64, offsets: [Partition: UInt64]) {
        self.ownerEpoch = ownerEpoch
        self.offsets = offsets
    }
}
