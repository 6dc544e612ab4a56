internal import EventBus
internal import NATSLayout

/// The fences and the progress of a claim that a member of this process has made.
struct HeldClaim: Sendable {
    /// The epoch of the journal.
    let epoch: UInt64
    let ownerGeneration: UInt64
    /// The sequences of the fences. A fence that has been replaced is removed.
    private(set) var fences: [Partition: UInt64]
    private var offsets: [Partition: UInt64]
    /// The offset up to which all owned partitions are handled.
    private(set) var settled: UInt64 = 0
    /// The partitions whose last batch may be recorded or not, because its caller was cancelled.
    private(set) var uncertain: Set<Partition> = []

    init(epoch: UInt64, ownerGeneration: UInt64, fences: [Partition: UInt64], offsets: [Partition: UInt64]) {
        self.epoch = epoch
        self.ownerGeneration = ownerGeneration
        self.fences = fences
        self.offsets = offsets
    }

    /// True if this is what the member holds under the claim. Owner generations of two epochs of the journal are not
    /// the same.
    func belongs(to claim: ConsumerClaim) -> Bool { epoch == claim.epoch && ownerGeneration == claim.ownerGeneration }

    /// The offset up to which a partition is handled.
    func handledOffset(of partition: Partition) -> UInt64 { max(offsets[partition] ?? 0, settled) }

    /// The offset up to which every owned partition is handled.
    var position: UInt64 { fences.keys.map(handledOffset).min() ?? 0 }

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

    mutating func recordUncertain(_ partition: Partition) { uncertain.insert(partition) }

    mutating func lose(_ partition: Partition) { fences[partition] = nil }

    mutating func add(_ fence: UInt64, of partition: Partition) { fences[partition] = fence }
}
