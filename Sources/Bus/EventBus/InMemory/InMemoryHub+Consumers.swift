extension InMemoryHub {
    func claim(
        _ consumer: String, as member: ConsumerMember, for handle: InMemoryEventBus.ID
    ) throws -> ConsumerClaim {
        try requireOpen(handle)
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        guard groups[consumer]?.isDisplaced(member) != true else { throw BusError.takenOver(consumer) }
        let ownership = groups[consumer, default: ConsumerGroup(after: forgottenEpoch)].claim(member)
        memberships[handle, default: []].insert(Membership(consumer: consumer, member: member.id))
        endSubscriptions(of: consumer)
        return ConsumerClaim(
            consumer: consumer, member: member, ownerEpoch: ownership.ownerEpoch, epoch: epoch,
            offsets: ownership.offsets)
    }

    func consumers(for handle: InMemoryEventBus.ID) throws -> [DurableConsumer] {
        try requireOpen(handle)
        return groups.sorted { $0.key < $1.key }.map { name, group in
            DurableConsumer(
                name: name, position: Position(epoch: epoch, offset: group.position), end: end,
                memberCount: group.members.count)
        }
    }

    func forget(_ consumer: String, for handle: InMemoryEventBus.ID) throws {
        try requireOpen(handle)
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        guard groups[consumer]?.members.isEmpty ?? true else { throw BusError.isShared(consumer) }
        // Members that share are listed; a share of any other member means that it owns all of them.
        if let owner = groups[consumer]?.shares.first?.member {
            let membership = Membership(consumer: consumer, member: owner)
            guard !memberships.values.contains(where: { $0.contains(membership) }) else {
                throw BusError.isOwned(consumer)
            }
        }
        forgottenEpoch = max(forgottenEpoch, groups.removeValue(forKey: consumer)?.ownerEpoch ?? 0)
        endSubscriptions(of: consumer)
    }

    /// Whether a claim still says what its member owns.
    func isCurrent(_ claim: ConsumerClaim) -> Bool {
        guard claim.epoch == epoch, let ownership = groups[claim.consumer]?.ownership(of: claim.member.id) else {
            return false
        }
        return ownership.ownerEpoch == claim.ownerEpoch && ownership.offsets.keys == claim.offsets.keys
    }

    /// Checks that progress can be recorded.
    /// - Returns: whether the message of the checkpoint has been handled: then what it led to is in the journal.
    /// - Throws: ``BusError``: `epoch`, `fenced` or `unrecorded`, in this order.
    func isHandled(_ checkpoint: Checkpoint) throws -> Bool {
        let claim = checkpoint.claim
        try requireThisJournal(checkpoint.position)
        guard let group = groups[claim.consumer], group.isOwned(checkpoint.partition, under: claim.ownerEpoch) else {
            throw BusError.takenOver(claim.consumer)
        }
        guard let partition = checkpoint.partition else { return false }
        let handled = group.handled(partition)
        if handled >= checkpoint.position.offset { return true }
        if let previous = checkpoint.previous, handled < previous {
            throw BusError(.unrecorded, "the checkpoint before, at offset \(previous), is not recorded")
        }
        return false
    }

    /// - Throws: ``BusError`` with code `epoch` for progress beyond the journal's end: messages to come would count as handled.
    func requireReached(_ checkpoint: Checkpoint) throws {
        guard max(checkpoint.position.offset, checkpoint.settled) <= end.offset else {
            throw BusError(
                .epoch, "the checkpoint of \(checkpoint.claim.consumer) is beyond the journal's end (\(end))")
        }
    }

    /// Records progress that has been checked.
    func record(_ checkpoint: Checkpoint) {
        _ = groups[checkpoint.claim.consumer]?
            .record(
                checkpoint.position.offset, partition: checkpoint.partition, settled: checkpoint.settled,
                ownerEpoch: checkpoint.claim.ownerEpoch)
    }

    func leave(_ membership: Membership, for handle: InMemoryEventBus.ID) {
        memberships[handle]?.remove(membership)
        groups[membership.consumer]?.leave(membership.member)
        endSubscriptions(of: membership.consumer)
    }

    func leaveConsumers(_ handle: InMemoryEventBus.ID) {
        for membership in memberships[handle] ?? [] { leave(membership, for: handle) }
        memberships[handle] = nil
    }
}

extension BusError {
    fileprivate static func isShared(_ consumer: String) -> BusError {
        BusError(.refused, "processes share the durable consumer '\(consumer)'; stop them first")
    }

    fileprivate static func isOwned(_ consumer: String) -> BusError {
        BusError(.refused, "a process runs the durable consumer '\(consumer)'; stop it first")
    }

    fileprivate static func takenOver(_ consumer: String) -> BusError {
        BusError(.fenced, "another process has taken over the durable consumer '\(consumer)'")
    }
}
