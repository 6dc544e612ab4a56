package import Foundation

/// The owners of a durable consumer's partitions, and the offset up to which each partition is handled.
///
/// A value without side effects: a broker keeps one for each consumer and records its changes. A partition has at most
/// one owner at a time. A new owner claims the partition under a higher *owner epoch*. Progress under an older owner
/// epoch is refused, which fences the previous owner.
package struct ConsumerGroup: Hashable, Sendable {
    /// The owner and the progress of one partition.
    package struct Share: Hashable, Sendable {
        /// The member that owns the partition; nil while no member does.
        package var member: UUID?
        /// The owner epoch; 0 until the member has claimed the partition.
        package var ownerEpoch: UInt64
        /// The offset at which the owner claimed the partition, or later progress of this partition alone. The
        /// partition is handled up to this offset, or up to the owner's ``ConsumerGroup/progress`` if that is higher.
        package var offset: UInt64

        package init(member: UUID? = nil, ownerEpoch: UInt64 = 0, offset: UInt64 = 0) {
            self.member = member
            self.ownerEpoch = ownerEpoch
            self.offset = offset
        }
    }

    /// The owner epoch that was assigned last.
    package private(set) var ownerEpoch: UInt64
    /// The partitions, indexed by their number.
    package private(set) var shares: [Share]
    /// The offset up to which an owner has handled all its partitions, by owner epoch.
    package private(set) var progress: [UInt64: UInt64]
    /// The members that share the partitions. An exclusive owner is not among them.
    package private(set) var members: Set<UUID>
    /// The exclusive members that were displaced most recently. Further claims of these members are refused.
    package private(set) var displaced: [UUID]

    /// - Parameter ownerEpoch: The highest owner epoch of any consumer that was removed. The owner epochs of the new
    ///   consumer are higher.
    package init(after ownerEpoch: UInt64 = 0) {
        self.init(
            ownerEpoch: ownerEpoch, shares: Array(repeating: Share(), count: Partition.count), progress: [:],
            members: [])
    }

    /// Restores a group from its recorded state.
    package init(
        ownerEpoch: UInt64, shares: [Share], progress: [UInt64: UInt64], members: Set<UUID>, displaced: [UUID] = []
    ) {
        self.ownerEpoch = ownerEpoch
        self.shares = shares
        self.progress = progress
        self.members = members
        self.displaced = displaced
    }

    /// Creates a group without owners.
    /// - Parameter handled: The offset up to which each partition is handled, by the number of the partition.
    init(ownerEpoch: UInt64, handled: [UInt64]) {
        self.init(
            ownerEpoch: ownerEpoch, shares: handled.map { Share(offset: $0) }, progress: [:], members: [])
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
        if ownership(of: member.id).ownerEpoch == 0 {
            claimShares(of: member.id)
        }
        return ownership(of: member.id)
    }

    /// Returns the partitions of a member. The owner epoch is 0 if the member owns none, or was assigned partitions
    /// that it has not claimed.
    package func ownership(of member: UUID) -> Ownership {
        let owned = shares.indices.filter { shares[$0].member == member }
        let epochs = Set(owned.map { shares[$0].ownerEpoch })
        let offsets = owned.map { (Partition.all[$0], handled($0)) }
        return Ownership(
            ownerEpoch: epochs.count == 1 ? epochs.first ?? 0 : 0, offsets: Dictionary(uniqueKeysWithValues: offsets))
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
    /// - Returns: False if the partition is no longer owned under this owner epoch.
    package mutating func record(
        _ offset: UInt64, partition: Partition?, settled: UInt64? = nil, ownerEpoch: UInt64
    ) -> Bool {
        guard isOwned(partition, under: ownerEpoch) else { return false }
        // If an earlier message of another partition is not handled, this partition needs an offset of its own.
        // Otherwise `settled` is enough for all partitions.
        if let partition, let settled, settled < offset {
            let index = Int(partition.number)
            shares[index].offset = max(shares[index].offset, offset)
        }
        progress[ownerEpoch] = max(progress[ownerEpoch] ?? 0, partition == nil ? offset : settled ?? offset)
        return true
    }

    /// True if the partition is owned under the owner epoch. If `partition` is nil: true if any partition is.
    package func isOwned(_ partition: Partition?, under ownerEpoch: UInt64) -> Bool {
        guard ownerEpoch > 0 else { return false }
        guard let partition else { return shares.contains { $0.ownerEpoch == ownerEpoch } }
        return shares[Int(partition.number)].ownerEpoch == ownerEpoch
    }

    /// The offset up to which a partition of an owner is handled; 0 if `partition` is nil. Nil if the partition, or none
    /// if `partition` is nil, is owned under the owner epoch.
    package func handled(_ partition: Partition?, under ownerEpoch: UInt64) -> UInt64? {
        guard isOwned(partition, under: ownerEpoch) else { return nil }
        return partition.map { handled($0) } ?? 0
    }

    /// The offset up to which all partitions are handled.
    package var position: UInt64 { shares.indices.map(handled).min() ?? 0 }

    /// The offset up to which a partition is handled.
    package func handled(_ partition: Partition) -> UInt64 { handled(Int(partition.number)) }

    private func handled(_ index: Int) -> UInt64 {
        max(shares[index].offset, progress[shares[index].ownerEpoch] ?? 0)
    }

    /// The exclusive member that owns all partitions; nil if there is none.
    package var exclusiveOwner: UUID? {
        shares.first?.member.flatMap { members.contains($0) ? nil : $0 }
    }

    /// The shared members and the exclusive owner.
    package var everyMember: Set<UUID> { members.union(shares.compactMap(\.member)) }

    // MARK: Changes other than by a claim

    /// Returns the group with the offsets up to which its partitions are handled, where these are higher.
    /// - Parameter offset: Returns the offset of a partition that is owned under an owner epoch.
    package func recording(_ offset: (Partition, _ ownerEpoch: UInt64) -> UInt64) -> ConsumerGroup {
        var group = self
        for (index, partition) in zip(shares.indices, Partition.all) {
            group.shares[index].offset = max(handled(index), offset(partition, shares[index].ownerEpoch))
        }
        return group
    }

    /// Returns the group with owner epochs above `floor`. The member must claim its partitions again.
    func claimingAnew(_ member: UUID, above floor: UInt64) -> ConsumerGroup {
        var group = self
        group.ownerEpoch = max(ownerEpoch, floor)
        for index in shares.indices where shares[index].member == member {
            group.shares[index] = Share(member: member, ownerEpoch: 0, offset: handled(index))
        }
        return group
    }

    /// Returns the group with partitions that are to be claimed again, so that the claims of an earlier epoch end.
    /// - Parameter keepsPositions: False if the consumer begins at the journal's beginning, unless other records have
    ///   more.
    package func unclaimed(keepsPositions: Bool) -> ConsumerGroup {
        var group = self
        for index in shares.indices {
            group.shares[index].ownerEpoch = 0
            group.shares[index].offset = keepsPositions ? handled(index) : 0
        }
        group.progress = [:]
        return group
    }

    /// The group with a higher owner epoch, which no claim gets.
    package var reservingOwnerEpoch: ConsumerGroup {
        var group = self
        group.ownerEpoch += 1
        return group
    }

    /// The group without some shared members, or with an exclusive owner that must claim again.
    /// - Returns: The group, whose owner epoch is reserved for the new fences, and the partitions to be fenced. Nil if
    ///   nothing changes.
    package func expelling(_ silent: Set<UUID>) -> (group: ConsumerGroup, freed: [Partition])? {
        func isSilent(_ member: UUID?) -> Bool { member.map(silent.contains) ?? false }
        var group = reservingOwnerEpoch
        for member in silent { group.leave(member) }
        let freed = Partition.all.filter { partition in
            let share = shares[Int(partition.number)]
            return share.ownerEpoch > 0 && isSilent(share.member)
        }
        guard group != reservingOwnerEpoch || !freed.isEmpty else { return nil }
        for index in freed.map({ Int($0.number) }) where isSilent(group.shares[index].member) {
            group.shares[index] = Share(member: shares[index].member, ownerEpoch: 0, offset: handled(index))
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
            shares[index] = Share(member: member, ownerEpoch: 0, offset: handled(index))
        }
        forgetProgress()
    }

    /// Puts all partitions of a member under one new owner epoch.
    private mutating func claimShares(of member: UUID) {
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

/// The partitions that a member of a durable consumer owns.
package struct Ownership: Hashable, Sendable {
    /// 0 if the member owns no partition, or was assigned partitions that it has not claimed.
    package let ownerEpoch: UInt64
    /// The owned partitions, each with the offset up to which it is handled.
    package let offsets: [Partition: UInt64]

    package init(ownerEpoch: UInt64, offsets: [Partition: UInt64]) {
        self.ownerEpoch = ownerEpoch
        self.offsets = offsets
    }
}
