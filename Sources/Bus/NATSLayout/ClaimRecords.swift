package import BusFormat
package import EventBus
package import Foundation

/// The owners of a durable consumer, under `k.g.CONSUMER`.
package struct GroupRecord: LayoutRecord {
    package static let title = "the record of a durable consumer"
    /// The maximum number of members of a group, and of those that it has displaced.
    private static let maximumMemberCount = 1024
    /// Higher owner epochs are not assigned, so that one more never overflows and JSON numbers keep all their digits.
    package static let maximumOwnerEpoch: UInt64 = 1 << 53

    private struct Share: Codable, Hashable {
        let member: UUID?
        let ownerEpoch: UInt64
        let offset: UInt64
    }

    private struct Progress: Codable, Hashable {
        let ownerEpoch: UInt64
        let offset: UInt64
    }

    private let ownerEpoch: UInt64
    /// Nil if the consumer was removed.
    private let shares: [Share]?
    private let progress: [Progress]?
    private let members: [UUID]?
    private let displaced: [UUID]?
    /// The epoch of the journal in which the offsets were recorded. Nil if an earlier version has written the record.
    package let epoch: UInt64?

    /// - Parameter epoch: The epoch of the journal to which the offsets belong.
    package init(_ group: ConsumerGroup, epoch: UInt64) {
        self.epoch = epoch
        ownerEpoch = group.ownerEpoch
        shares = group.shares.map { Share(member: $0.member, ownerEpoch: $0.ownerEpoch, offset: $0.offset) }
        progress = group.progress.sorted { $0.key < $1.key }.map { Progress(ownerEpoch: $0.key, offset: $0.value) }
        members = group.members.sorted { $0.uuidString < $1.uuidString }
        displaced = group.displaced
    }

    /// The record of a removed consumer. Its fences may still exist, so the owner epochs of a new consumer of this name
    /// must be higher.
    package init(removedAfter ownerEpoch: UInt64) {
        self.ownerEpoch = ownerEpoch
        (shares, progress, members, displaced, epoch) = (nil, nil, nil, nil, nil)
    }

    /// True unless the consumer was removed.
    package var exists: Bool { shares != nil }

    /// The group as it is in the present epoch of a journal; nil if the consumer was removed.
    /// - Parameter sequence: The sequence of this record.
    package func existing(in epochs: JournalEpochs, at sequence: UInt64) -> ConsumerGroup? {
        guard let shares else { return nil }
        let group = ConsumerGroup(
            ownerEpoch: ownerEpoch,
            shares: shares.map { ConsumerGroup.Share(member: $0.member, ownerEpoch: $0.ownerEpoch, offset: $0.offset) },
            progress: Dictionary((progress ?? []).map { ($0.ownerEpoch, $0.offset) }, uniquingKeysWith: max),
            members: Set(members ?? []), displaced: displaced ?? [])
        if epochs.counts(epoch, recordedAt: .max) { return group }
        return group.unclaimed(keepsPositions: epochs.counts(epoch, recordedAt: sequence))
    }

    /// The group to which a member is added; without partitions if the consumer was removed.
    package func group(in epochs: JournalEpochs, at sequence: UInt64) -> ConsumerGroup {
        existing(in: epochs, at: sequence) ?? ConsumerGroup(after: ownerEpoch)
    }

    package func check() throws(ProtocolError) {
        func refuse(_ reason: String) -> ProtocolError {
            ProtocolError(.malformed, "\(Self.title) is damaged: \(reason)")
        }
        guard ownerEpoch < Self.maximumOwnerEpoch else { throw refuse("the owner epoch \(ownerEpoch) is too high") }
        guard let shares else { return }
        let members = Set(members ?? [])
        guard (shares.map(\.offset) + (progress ?? []).map(\.offset)).allSatisfy({ $0 <= Position.greatestOffset })
        else { throw refuse("an offset is too high") }
        guard shares.count == Partition.count else {
            throw refuse("it has \(shares.count) partitions instead of \(Partition.count)")
        }
        guard shares.allSatisfy({ $0.ownerEpoch <= ownerEpoch }),
            (progress ?? []).allSatisfy({ $0.ownerEpoch <= ownerEpoch })
        else { throw refuse("a partition has a higher owner epoch than the consumer") }
        for (count, limit, name) in [
            (members.count, Self.maximumMemberCount, "members"),
            ((displaced ?? []).count, Self.maximumMemberCount, "displaced members"),
            ((progress ?? []).count, Partition.count, "owner epochs with progress"),
        ] where count > limit {
            throw ProtocolError(.tooLarge, "\(Self.title) has \(count) \(name); at most \(limit) are possible")
        }
        let owners = Set(shares.compactMap(\.member))
        guard members.isEmpty ? owners.count <= 1 : owners.isSubset(of: members) else {
            throw refuse("the owner of a partition is not a member")
        }
    }
}

/// The right to publish the results of one partition of a durable consumer, under `k.f.CONSUMER.PP`. A batch that
/// expects the sequence of this record is refused as soon as there is a newer one.
package struct FenceRecord: LayoutRecord {
    package static let title = "the fence of a durable consumer"
    package static let copyHeader: String? = "Segue-Fence"

    package let ownerEpoch: UInt64
    /// The owner epoch of the fence that this one has replaced; 0 if there was none. A reader that begins between the
    /// two learns from it who owned the partition before.
    package let previous: UInt64
    package let member: UUID

    /// The member of the fences that the steward writes: it takes a partition from a silent member, and gives it to none.
    package static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// The member of the fences of a removed consumer.
    package static let removal = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    package init(ownerEpoch: UInt64, previous: UInt64, member: UUID) {
        self.ownerEpoch = ownerEpoch
        self.previous = previous
        self.member = member
    }

    /// The fence of a consumer that is removed. It refuses what the last owner publishes late.
    package init(removedAfter ownerEpoch: UInt64, previous: UInt64) {
        self.init(ownerEpoch: ownerEpoch, previous: previous, member: Self.removal)
    }

    /// True if the consumer was removed here. Earlier progress is not that of a later consumer of the same name.
    package var isRemoval: Bool { member == Self.removal }

    package func check() throws(ProtocolError) {
        guard ownerEpoch > previous, ownerEpoch <= GroupRecord.maximumOwnerEpoch else {
            throw ProtocolError(
                .malformed, "\(Self.title) is damaged: its owner epoch is too high, or not higher than the previous one"
            )
        }
    }
}

/// The lease of the documents of a producer, under `k.l.PRODUCER`. Leased batches expect the sequence of the record
/// that says `held`.
package struct LeaseRecord: LayoutRecord {
    package static let title = "the lease of a producer"

    package let state: LeaseState

    package init(_ state: LeaseState) {
        self.state = state
    }
}
