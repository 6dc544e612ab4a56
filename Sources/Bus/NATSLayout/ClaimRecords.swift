package import BusFormat
package import EventBus
package import Foundation

/// The owners of a durable consumer, under `k.g.CONSUMER`.
package struct GroupRecord: LayoutRecord {
    package static let title = "the record of a durable consumer"
    /// The maximum number of members of a group, and of those that it has displaced.
    private static let maximumMemberCount = 1024
    /// Higher owner generations are not assigned, so that one more never overflows and JSON numbers keep all their
    /// digits.
    package static let maximumOwnerGeneration: UInt64 = 1 << 53

    private struct Share: Codable, Hashable {
        let member: UUID?
        let ownerGeneration: UInt64
        let offset: UInt64

        private enum CodingKeys: String, CodingKey {
            case member, offset
            case ownerGeneration = "ownerEpoch"
        }
    }

    private struct Progress: Codable, Hashable {
        let ownerGeneration: UInt64
        let offset: UInt64

        private enum CodingKeys: String, CodingKey {
            case offset
            case ownerGeneration = "ownerEpoch"
        }
    }

    private let ownerGeneration: UInt64
    /// Nil if the consumer was removed.
    private let shares: [Share]?
    private let progress: [Progress]?
    private let members: [UUID]?
    private let displaced: [UUID]?
    /// The epoch of the journal in which the offsets were recorded. Nil if an earlier version has written the record.
    package let epoch: UInt64?

    private enum CodingKeys: String, CodingKey {
        case shares, progress, members, displaced, epoch
        case ownerGeneration = "ownerEpoch"
    }

    /// - Parameter epoch: The epoch of the journal to which the offsets belong.
    package init(_ group: ConsumerGroup, epoch: UInt64) {
        self.epoch = epoch
        ownerGeneration = group.ownerGeneration
        shares = group.shares.map { Share(member: $0.member, ownerGeneration: $0.ownerGeneration, offset: $0.offset) }
        progress = group.progress.sorted { $0.key < $1.key }.map { Progress(ownerGeneration: $0.key, offset: $0.value) }
        members = group.members.sorted { $0.uuidString < $1.uuidString }
        displaced = group.displaced
    }

    /// The record of a removed consumer. Its fences may still exist, so the owner generations of a new consumer of this
    /// name must be higher.
    package init(removedAfter ownerGeneration: UInt64) {
        self.ownerGeneration = ownerGeneration
        (shares, progress, members, displaced, epoch) = (nil, nil, nil, nil, nil)
    }

    /// True unless the consumer was removed.
    package var exists: Bool { shares != nil }

    /// The group as it is in the present epoch of a journal; nil if the consumer was removed.
    /// - Parameter sequence: The sequence of this record.
    package func existing(in epochs: JournalEpochs, at sequence: UInt64) -> ConsumerGroup? {
        guard let shares else { return nil }
        let group = ConsumerGroup(
            ownerGeneration: ownerGeneration,
            shares: shares.map {
                ConsumerGroup.Share(member: $0.member, ownerGeneration: $0.ownerGeneration, offset: $0.offset)
            },
            progress: Dictionary((progress ?? []).map { ($0.ownerGeneration, $0.offset) }, uniquingKeysWith: max),
            members: Set(members ?? []), displaced: displaced ?? [])
        if epochs.counts(epoch, recordedAt: .max) { return group }
        return group.unclaimed(keepsPositions: epochs.counts(epoch, recordedAt: sequence))
    }

    /// The group to which a member is added; without partitions if the consumer was removed.
    package func group(in epochs: JournalEpochs, at sequence: UInt64) -> ConsumerGroup {
        existing(in: epochs, at: sequence) ?? ConsumerGroup(after: ownerGeneration)
    }

    package func check() throws(ProtocolError) {
        func refuse(_ reason: String) -> ProtocolError {
            ProtocolError(.malformed, "\(Self.title) is damaged: \(reason)")
        }
        guard ownerGeneration < Self.maximumOwnerGeneration else {
            throw refuse("the owner generation \(ownerGeneration) is too high")
        }
        guard let shares else { return }
        let members = Set(members ?? [])
        guard (shares.map(\.offset) + (progress ?? []).map(\.offset)).allSatisfy({ $0 <= Position.greatestOffset })
        else { throw refuse("an offset is too high") }
        guard shares.count == Partition.count else {
            throw refuse("it has \(shares.count) partitions instead of \(Partition.count)")
        }
        guard shares.allSatisfy({ $0.ownerGeneration <= ownerGeneration }),
            (progress ?? []).allSatisfy({ $0.ownerGeneration <= ownerGeneration })
        else { throw refuse("a partition has a higher owner generation than the consumer") }
        for (count, limit, name) in [
            (members.count, Self.maximumMemberCount, "members"),
            ((displaced ?? []).count, Self.maximumMemberCount, "displaced members"),
            ((progress ?? []).count, Partition.count, "owner generations with progress"),
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

    package let ownerGeneration: UInt64
    /// The owner generation of the fence that this one has replaced; 0 if there was none. A reader that begins between
    /// the two learns from it who owned the partition before.
    package let previous: UInt64
    package let member: UUID

    private enum CodingKeys: String, CodingKey {
        case previous, member
        case ownerGeneration = "ownerEpoch"
    }

    /// The member of the fences that the steward writes: it takes a partition from a silent member, and gives it to
    /// none.
    package static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// The member of the fences of a removed consumer.
    package static let removal = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    package init(ownerGeneration: UInt64, previous: UInt64, member: UUID) {
        self.ownerGeneration = ownerGeneration
        self.previous = previous
        self.member = member
    }

    /// The fence of a consumer that is removed. It refuses what the last owner publishes late.
    package init(removedAfter ownerGeneration: UInt64, previous: UInt64) {
        self.init(ownerGeneration: ownerGeneration, previous: previous, member: Self.removal)
    }

    /// True if the consumer was removed here. Earlier progress is not that of a later consumer of the same name.
    package var isRemoval: Bool { member == Self.removal }

    package func check() throws(ProtocolError) {
        guard ownerGeneration > previous, ownerGeneration <= GroupRecord.maximumOwnerGeneration else {
            throw ProtocolError(
                .malformed,
                "\(Self.title) is damaged: its owner generation is too high, or not higher than the previous one")
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
