package import Foundation

/// The owners of a durable consumer's partitions, and the offset up to which each partition is handled.
///
/// A value without side effects: a broker keeps one for each consumer and records its changes. A partition has at most
/// one owner at a time. A new owner claims the partition under a higher *owner generation*. Progress under an older
/// owner generation is refused, which fences the previous owner.
package struct ConsumerGroup: Hashable, Sendable {
    /// The owner and the progress of one partition.
    package struct Share: Hashable, Sendable {
        /// The member that owns the partition; nil while no member does.
        package var member: UUID?
        /// The owner generation; 0 until the member has claimed the partition.
        package var ownerGeneration: UInt64
        /// The offset at which the owner claimed the partition, or later progress of this partition alone. The
        /// partition is handled up to this offset, or up to the owner's ``ConsumerGroup/progress`` if that is higher.
        package var offset: UInt64

        package init(member: UUID? = nil, ownerGeneration: UInt64 = 0, offset: UInt64 = 0) {
            self.member = member
            self.ownerGeneration = ownerGeneration
            self.offset = offset
        }
    }

    /// The owner generation that was assigned last.
    package private(set) var ownerGeneration: UInt64
    /// The partitions, indexed by their number.
    package private(set) var shares: [Share]
    /// The offset up to which an owner has handled all its partitions, by owner generation.
    package private(set) var progress: [UInt64: UInt64]
    /// The members that share the partitions. An exclusive owner is not among them.
    package private(set) var members: Set<UUID>
    /// The exclusive members that were displaced most recently. Further claims of these members are refused.
    package private(set) var displaced: [UUID]

    /// - Parameter ownerGeneration: The highest owner generation of any consumer that was removed. The owner
    ///   generations of the new consumer are higher.
    package init(after ownerGeneration: UInt64 = 0) {
        self.init(
            ownerGeneration: ownerGeneration, shares: Array(repeating: Share(), count: Partition.count), progress: [:],
            members: [])
    }

    /// Restores a group from its recorded state.
    package init(
        ownerGeneration: UInt64, shares: [Share], progress: [UInt64: UInt64], members: Set<UUID>, displaced: [UUID] = []
    ) {
        self.ownerGeneration = ownerGeneration
        self.shares = shares
        self.progress = progress
        self.members = members
        self.displaced = displaced
    }

    /// Creates a group without owners.
    /// - Parameter handled: The offset up to which each partition is handled, by the number of the partition.
    init(ownerGeneration: UInt64, handled: [UInt64]) {
        self.init(
            ownerGeneration: ownerGeneration, shares: handled.map { Share(offset: $0) }, progress: [:], members: [])
    }

    /// True if this exclusive member is among the ``displaced`` ones: its claim comes too late.
    package func isDisplaced(_ member: ConsumerMember) -> Bool {
        member.mode == .exclusive && displaced.contains(member.id)
    }

    /// Assigns partitions to a member and fences their previous owners. A displaced member gets none.
    package mutating func claim(_ member: ConsumerMember) -> Ownership {
        guard !isDisplaced(member) else { return ownership(of: member.id) }
        if let owner = exclusiveOwner, owner != member.id {
            displaced = (displaced + [owner]).suffix(ConsumerLimits.displaced)
        }
        switch member.mode {
        case .exclusive:
            members = []
            assign(Array(shares.indices), to: member.id)
        case .shared:
            join(member.id)
        }
        if ownership(of: member.id).ownerGeneration == 0 {
            claimShares(of: member.id)
        }
        return ownership(of: member.id)
    }

    /// Returns the partitions of a member. The owner generation is 0 if the member owns none, or was assigned
    /// partitions that it has not claimed.
    package func ownership(of member: UUID) -> Ownership {
        let owned = shares.indices.filter { shares[$0].member == member }
        let epochs = Set(owned.map { shares[$0].ownerGeneration })
        let offsets = owned.map { (Partition.all[$0], handled($0)) }
        return Ownership(
            ownerGeneration: epochs.count == 1 ? epochs.first ?? 0 : 0,
            offsets: Dictionary(uniqueKeysWithValues: offsets))
    }

    /// Removes a shared member. The other shared members, if there are any, get its partitions.
    package mutating func leave(_ member: UUID) {
        guard members.remove(member) != nil else { return }
        assign(shares.indices.filter { shares[$0].member == member }, to: nil)
        balance()
    }

    /// Records the progress of an owner.
    /// - Parameters:
    ///   - offset: The offset of the handled message. All earlier messages of its partition are handled, too.
    ///   - partition: The partition of that message; nil for all partitions of the owner.
    ///   - settled: The offset up to which all partitions of the owner are handled; `offset` if nil. It is smaller than
    ///     `offset` if an earlier message of another partition has not arrived or is not handled. It can also be
    ///     greater.
    /// - Returns: False if the partition is no longer owned under this owner generation.
    package mutating func record(
        _ offset: UInt64, partition: Partition?, settled: UInt64? = nil, ownerGeneration: UInt64
    ) -> Bool {
        guard isOwned(partition, under: ownerGeneration) else { return false }
        // If an earlier message of another partition is not handled, this partition needs an offset of its own.
        // Otherwise `settled` is enough for all partitions.
        if let partition, let settled, settled < offset {
            let index = Int(partition.number)
            shares[index].offset = max(shares[index].offset, offset)
        }
        progress[ownerGeneration] = max(progress[ownerGeneration] ?? 0, partition == nil ? offset : settled ?? offset)
        return true
    }

    /// True if the partition is owned under the owner generation. If `partition` is nil: true if any partition is.
    package func isOwned(_ partition: Partition?, under ownerGeneration: UInt64) -> Bool {
        guard ownerGeneration > 0 else { return false }
        guard let partition else { return shares.contains { $0.ownerGeneration == ownerGeneration } }
        return shares[Int(partition.number)].ownerGeneration == ownerGeneration
    }

    /// The offset up to which a partition of an owner is handled; 0 if `partition` is nil. Nil if the partition, or
    /// none if `partition` is nil, is owned under the owner generation.
    package func handled(_ partition: Partition?, under ownerGeneration: UInt64) -> UInt64? {
        guard isOwned(partition, under: ownerGeneration) else { return nil }
        return partition.map { handled($0) } ?? 0
    }

    /// The offset up to which all partitions are handled.
    package var position: UInt64 { shares.indices.map(handled).min() ?? 0 }

    /// The offset up to which a partition is handled.
    package func handled(_ partition: Partition) -> UInt64 { handled(Int(partition.number)) }

    private func handled(_ index: Int) -> UInt64 {
        max(shares[index].offset, progress[shares[index].ownerGeneration] ?? 0)
    }

    /// The exclusive member that owns all partitions; nil if there is none.
    package var exclusiveOwner: UUID? {
        shares.first?.member.flatMap { members.contains($0) ? nil : $0 }
    }

    /// The shared members and the exclusive owner.
    package var everyMember: Set<UUID> { members.union(shares.compactMap(\.member)) }

    // MARK: Changes other than by a claim

    /// Returns the group with the offsets up to which its partitions are handled, where these are higher.
    /// - Parameter offset: Returns the offset of a partition that is owned under an owner generation.
    package func recording(_ offset: (Partition, _ ownerGeneration: UInt64) -> UInt64) -> ConsumerGroup {
        var group = self
        for (index, partition) in zip(shares.indices, Partition.all) {
            group.shares[index].offset = max(handled(index), offset(partition, shares[index].ownerGeneration))
        }
        return group
    }

    /// Returns the group with owner generations above `floor`. The member must claim its partitions again.
    func claimingAnew(_ member: UUID, above floor: UInt64) -> ConsumerGroup {
        var group = self
        group.ownerGeneration = max(ownerGeneration, floor)
        for index in shares.indices where shares[index].member == member {
            group.shares[index] = Share(member: member, ownerGeneration: 0, offset: handled(index))
        }
        return group
    }

    /// Returns the group with partitions that are to be claimed again, so that the claims of an earlier epoch end.
    /// - Parameter keepsPositions: False if the consumer begins at the journal's beginning, unless other records have
    ///   more.
    package func unclaimed(keepsPositions: Bool) -> ConsumerGroup {
        var group = self
        for index in shares.indices {
            group.shares[index].ownerGeneration = 0
            group.shares[index].offset = keepsPositions ? handled(index) : 0
        }
        group.progress = [:]
        return group
    }

    /// The group with a higher owner generation, which no claim gets.
    package var reservingOwnerGeneration: ConsumerGroup {
        var group = self
        group.ownerGeneration += 1
        return group
    }

    /// The group without some shared members, or with an exclusive owner that must claim again.
    /// - Returns: The group, whose owner generation is reserved for the new fences, and the partitions to be fenced.
    ///   Nil if nothing changes.
    package func expelling(_ silent: Set<UUID>) -> (group: ConsumerGroup, freed: [Partition])? {
        func isSilent(_ member: UUID?) -> Bool { member.map(silent.contains) ?? false }
        var group = reservingOwnerGeneration
        for member in silent { group.leave(member) }
        let freed = Partition.all.filter { partition in
            let share = shares[Int(partition.number)]
            return share.ownerGeneration > 0 && isSilent(share.member)
        }
        guard group != reservingOwnerGeneration || !freed.isEmpty else { return nil }
        for index in freed.map({ Int($0.number) }) where isSilent(group.shares[index].member) {
            group.shares[index] = Share(member: shares[index].member, ownerGeneration: 0, offset: handled(index))
        }
        group.forgetProgress()
        return (group, freed)
    }

    // MARK: Sharing

    private mutating func join(_ member: UUID) {
        guard members.insert(member).inserted else { return }
        balance()
    }

    /// Distributes the partitions so that the shares of any two members differ by at most one.
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

    /// Gives partitions to another member, or to none if `member` is nil. The previous owner is fenced at once; the new
    /// owner claims them later.
    private mutating func assign(_ indices: [Int], to member: UUID?) {
        for index in indices where shares[index].member != member {
            shares[index] = Share(member: member, ownerGeneration: 0, offset: handled(index))
        }
        forgetProgress()
    }

    /// Puts all partitions of a member under one new owner generation.
    private mutating func claimShares(of member: UUID) {
        guard shares.contains(where: { $0.member == member }) else { return }
        ownerGeneration += 1
        for index in shares.indices where shares[index].member == member {
            shares[index] = Share(member: member, ownerGeneration: ownerGeneration, offset: handled(index))
        }
        forgetProgress()
    }

    private mutating func forgetProgress() {
        let current = Set(shares.map(\.ownerGeneration))
        progress = progress.filter { current.contains($0.key) }
    }
}

extension UUID {
    fileprivate func count(_ owned: [UUID: [Int]]) -> Int { owned[self]?.count ?? 0 }
}

/// The partitions that a member of a durable consumer owns.
package struct Ownership: Hashable, Sendable {
    /// 0 if the member owns no partition, or was assigned partitions that it has not claimed.
    package let ownerGeneration: UInt64
    /// The owned partitions, each with the offset up to which it is handled.
    package let offsets: [Partition: UInt64]

    package init(ownerGeneration: UInt64, offsets: [Partition: UInt64]) {
        self.ownerGeneration = ownerGeneration
        self.offsets = offsets
    }
}
