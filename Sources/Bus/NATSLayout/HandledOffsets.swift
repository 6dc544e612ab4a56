package import EventBus

/// The offset up to which each partition of a durable consumer is handled: computed from the fences, the progress
/// records and the headers of batches, in the order of the stream.
///
/// The server stores progress only while the fence that it expects is the last one. So every progress that is in the
/// stream counts, and everything that an earlier owner has recorded is before the fence of the next one. A new owner
/// therefore reads until its own fences have come, which also works with a server that lags behind the others.
package struct HandledOffsets: Hashable, Sendable {
    private struct Share: Hashable {
        /// The owner generation of the fence; nil if neither a fence nor progress of this partition has come.
        var ownerGeneration: UInt64?
        var offset: UInt64
    }

    private var shares: [Share]
    /// The offsets that the group has recorded.
    private let recorded: [UInt64]
    private let epochs: JournalEpochs
    /// The offset up to which an owner has handled all its partitions, by owner generation.
    private var settled: [UInt64: UInt64] = [:]
    /// The sequence of the last fence of each partition that has come.
    private var fences: [Partition: UInt64] = [:]
    /// The newest fence under which progress has come.
    private(set) package var progressFence: UInt64?

    /// - Parameters:
    ///   - group: The recorded group in the present epoch. The reader begins at ``start(of:)``.
    ///   - epochs: The epochs of the journal. What was recorded in an earlier one may not count.
    package init(_ group: ConsumerGroup, in epochs: JournalEpochs) {
        self.epochs = epochs
        recorded = Partition.all.map(group.handled)
        shares = recorded.map { Share(ownerGeneration: nil, offset: $0) }
    }

    /// The sequence at which a reader of the progress begins. Progress beyond a handled message is recorded after that
    /// message, so earlier records are not needed. Retention must keep every fence from this sequence on, not only
    /// the last one of each partition.
    package static func start(of group: ConsumerGroup) -> UInt64 {
        StreamPosition.start(after: group.position)
    }

    /// The number of sequences after which the position of a group is recorded.
    package static let recordingStep: UInt64 = 10_000

    /// Handles a fence, in the order of the stream.
    /// - Parameter sequence: The sequence of the record in the stream.
    package mutating func read(_ fence: FenceRecord, of partition: Partition, at sequence: UInt64) {
        fences[partition] = sequence
        let index = Int(partition.number)
        if fence.isRemoval {
            // What was handled before is that of a consumer that was removed. The group belongs to its successor.
            shares[index].offset = recorded[index]
        } else {
            let previous = shares[index].ownerGeneration ?? fence.previous
            shares[index].offset = max(shares[index].offset, settled[previous] ?? 0)
        }
        shares[index].ownerGeneration = fence.ownerGeneration
    }

    /// Handles the progress of a batch or a progress record, in the order of the stream.
    /// - Parameters:
    ///   - fenced: The partition whose fence the batch expects, that is the one in its subject.
    ///   - sequence: The sequence of the batch in the stream.
    package mutating func read(_ progress: RecordedProgress, fenced: Partition, at sequence: UInt64) {
        guard epochs.counts(progress.epoch, recordedAt: sequence) else { return }
        if let fence = fences[fenced] { progressFence = max(progressFence ?? 0, fence) }
        let generation = progress.ownerGeneration
        // The server has accepted the batch, so this partition was owned under this generation.
        let fencedIndex = Int(fenced.number)
        shares[fencedIndex].ownerGeneration = shares[fencedIndex].ownerGeneration ?? generation
        if let partition = progress.partition {
            let index = Int(partition.number)
            shares[index].offset = max(shares[index].offset, progress.offset)
        }
        settled[generation] = max(
            settled[generation] ?? 0, progress.partition == nil ? progress.offset : progress.settled)
    }

    /// The offset up to which a partition is handled.
    /// - Parameter ownerGeneration: The owner generation of the last fence, for a partition of which no record has
    ///   come; nil if it is not known.
    package func handled(_ partition: Partition, ownerGeneration: UInt64? = nil) -> UInt64 {
        let share = shares[Int(partition.number)]
        return max(share.offset, (share.ownerGeneration ?? ownerGeneration).flatMap { settled[$0] } ?? 0)
    }

    /// True if the fences of these partitions, or later ones, have come.
    /// - Parameter own: The sequences of the fences that the reader has written.
    package func hasRead(_ own: [Partition: UInt64]) -> Bool {
        own.allSatisfy { partition, sequence in fences[partition].map { $0 >= sequence } ?? false }
    }
}

extension ConsumerGroup {
    /// Returns the group with the offsets that are computed from its records, where these are higher.
    package func recording(_ offsets: HandledOffsets) -> ConsumerGroup {
        recording { offsets.handled($0, ownerGeneration: $1 > 0 ? $1 : nil) }
    }

    /// True if a reader of the progress reads at least `step` sequences less with this group than with `last`, so that
    /// it is worth recording.
    package func isWorthRecording(
        insteadOf last: ConsumerGroup, step: UInt64 = HandledOffsets.recordingStep
    ) -> Bool {
        HandledOffsets.start(of: self) >= HandledOffsets.start(of: last) + step
    }
}
