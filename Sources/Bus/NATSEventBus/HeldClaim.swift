internal import EventBus
internal import NATSLayout

/// The fences and the progress of a claim that a member of this process has made.
struct HeldClaim: Sendable {
    /// The epoch of the journal.
    let epoch: UInt64
    let ownerEpoch: UInt64
    /// The sequences of the fences. A fence that has been replaced is removed.
    private(set) var fences: [Partition: UInt64]
    private var offsets: [Partition: UInt64]
    /// The offset up to which all owned partitions are handled.
    private(set) var settled: UInt64 = 0
    /// The partitions whose last batch may be recorded or not, because its caller was cancelled.
    private(set) var uncertain: Set<Partition> = []

    init(epoch: UInt64, ownerEpoch: UInt64, fences: [Partition: UInt64], offsets: [Partition: UInt64]) {
        self.epoch = epoch
        self.ownerEpoch = ownerEpoch
        self.fences = fences
        self.offsets = offsets
    }

    /// True if this is what the member holds under the claim. Owner epochs of two epochs of the journal are not the same.
    func belongs(to claim: ConsumerClaim) -> Bool { epoch == claim.epoch && ownerEpoch == claim.ownerEpoch }

    /// The offset up to which a partition is handled.
    func handled(_ partition: Partition) -> UInt64 { max(offsets[partition] ?? 0, settled) }

    /// The offset up to which every owned partition is handled.
    var position: UInt64 { fences.keys.map(handled).min() ?? 0 }

    mutating func record(_ progress: RecordedProgress) {
        if let partition = progress.partition {
            offsets[partition] = max(offsets[partition] ?? 0, progress.offset)
            settled = max(settled, progress.settled)
        } else {
            settled = max(settled, progress.offset)
        }
    }

    /// Records the offset up to which a partition is handled, from the journal.
    mutating func restore(_ partition: Partition, to offset: UInt64) {
        offsets[partition] = max(offsets[partition] ?? 0, offset)
        uncertain.remove(partition)
    }

    mutating func noteUncertain(_ partition: Partition) { uncertain.insert(partition) }

    mutating func lose(_ partition: Partition) { fences[partition] = nil }

    mutating func add(_ fence: UInt64, of partition: Partition) { fences[partition] = fence }
}

/// The partitions that a member has fenced under one owner epoch.
struct FencedPartitions: Hashable, Sendable {
    private(set) var ownerEpoch: UInt64 = 0
    private var partitions: Set<Partition> = []
    /// True if the servers have lost a fence of this owner epoch.
    private var isLost = false

    /// Adds the partitions of a claim. Those of an earlier owner epoch are forgotten.
    mutating func add(_ ownership: Ownership) {
        if ownerEpoch != ownership.ownerEpoch { (partitions, isLost) = ([], false) }
        ownerEpoch = ownership.ownerEpoch
        partitions.formUnion(ownership.offsets.keys)
    }

    /// Records that the servers have lost a fence, so that the next claim writes others.
    mutating func noteLost() { isLost = true }

    /// True if a claim needs a higher owner epoch: because a group that has replaced a lost one has a lower one, or the
    /// claim has other partitions under the same one, or a fence is lost.
    func exceed(_ ownership: Ownership) -> Bool {
        guard ownerEpoch == ownership.ownerEpoch else { return ownerEpoch > ownership.ownerEpoch }
        return isLost || partitions != Set(ownership.offsets.keys)
    }
}
