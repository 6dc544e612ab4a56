extension ConsumerGroup {
    /// Returns the group after a claim, and the partitions of the member.
    /// - Parameters:
    ///   - otherConsumers: The number of consumers of the journal; nil if this one is among them.
    ///   - limit: The maximum number of consumers.
    ///   - floor: Returns the owner generation above which that of the claim must be, if the one that the group assigns
    ///     cannot be used; otherwise nil.
    /// - Throws: ``LedgerRefusal`` with the reason `full`, or `fenced` if the member was displaced.
    package func claimed(
        by member: ConsumerMember, of consumer: String, otherConsumers: Int?, limit: Int = ConsumerLimits.consumers,
        above floor: (Ownership) -> UInt64? = { _ in nil }
    ) throws(LedgerRefusal) -> (group: ConsumerGroup, ownership: Ownership) {
        if let otherConsumers, otherConsumers >= limit {
            throw LedgerRefusal(
                .full,
                "the journal has \(otherConsumers) durable consumers already; remove one with 'segue consumer forget'")
        }
        guard !isDisplaced(member) else { throw LedgerRefusal(takenOver: consumer) }
        guard
            member.mode == .exclusive || members.contains(member.id) || members.count < ConsumerLimits.members
        else {
            throw LedgerRefusal(
                .full,
                "\(members.count) members share the durable consumer '\(consumer)' already; "
                    + "let one of them leave first")
        }
        var group = self
        var ownership = group.claim(member)
        if let floor = floor(ownership) {
            group = group.claimingAnew(member.id, above: floor)
            ownership = group.claim(member)
        }
        return (group, ownership)
    }

    /// True if a claim still matches the partitions of its member.
    /// - Parameters:
    ///   - epoch: The epoch of the journal.
    ///   - mayBeOlder: True if the group may have been read before the claim was made.
    package func isCurrent(_ claim: ConsumerClaim, in epoch: UInt64, mayBeOlder: Bool = false) -> Bool {
        let ownership = ownership(of: claim.member.id)
        if mayBeOlder, ownerGeneration < claim.ownerGeneration, ownership.ownerGeneration > 0 { return true }
        return ownership.matches(claim, in: epoch)
    }
}

/// The state of a claim, as far as one of its partitions is concerned.
package enum ClaimState: Hashable, Sendable {
    case current
    /// The claim has ended, and no other member has taken over the partition: the bus considered the process dead, or
    /// its partitions have changed since. The member can claim again.
    case ended
    /// Another member owns the partition, or the consumer was removed.
    case takenOver
}

extension ConsumerGroup {
    package func state(of claim: ConsumerClaim, at partition: Partition) -> ClaimState {
        let share = shares[Int(partition.number)]
        guard share.member == claim.member.id else { return .takenOver }
        return share.ownerGeneration == claim.ownerGeneration ? .current : .ended
    }
}

extension Ownership {
    /// True if these are the partitions of a claim.
    /// - Parameter epoch: The epoch of the journal.
    package func matches(_ claim: ConsumerClaim, in epoch: UInt64) -> Bool {
        claim.epoch == epoch && claim.ownerGeneration == ownerGeneration && claim.offsets.keys == offsets.keys
    }
}
