import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Progress of a durable consumer")
struct HandledOffsetsTests {
    private enum Record {
        case fence(FenceRecord, Partition)
        case progress(RecordedProgress, fenced: Partition)
    }

    /// A stream with the records of one consumer, and the progress that its owners have made.
    private struct History {
        var records: [(sequence: UInt64, record: Record)] = []
        var sequence: UInt64 = 1
        var fences: [Partition: UInt64] = [:]
        /// The offsets up to which partitions are handled.
        var handled = Dictionary(uniqueKeysWithValues: Partition.all.map { ($0, UInt64(0)) })
        /// Each owner's knowledge of its partitions, by owner generation. It does not learn of another owner's
        /// progress.
        var owners: [UInt64: [Partition: UInt64]] = [:]

        mutating func claim(_ partitions: [Partition]) {
            let epoch = (owners.keys.max() ?? 0) + 1
            for partition in partitions {
                sequence += 1
                let fence = FenceRecord(ownerGeneration: epoch, previous: fences[partition] ?? 0, member: UUID())
                records.append((sequence, .fence(fence, partition)))
                fences[partition] = epoch
            }
            owners[epoch] = handled.filter { partitions.contains($0.key) }
        }

        mutating func progress(_ epoch: UInt64, _ partition: Partition, toAll: Bool) {
            sequence += 1
            let offset = StreamPosition.end(of: sequence - 1)
            owners[epoch]?[partition] = offset
            // An owner of everything that has lost nothing can record progress for all its partitions.
            let own = owners[epoch]?.keys.filter { fences[$0] == epoch } ?? []
            let isWhole = own.count == owners[epoch]?.count
            if toAll, isWhole { for partition in own { owners[epoch]?[partition] = offset } }
            let settled = owners[epoch]?.values.min() ?? 0
            let progress = RecordedProgress(
                ownerGeneration: epoch, offset: offset, settled: settled, partition: toAll && isWhole ? nil : partition)
            for other in own { handled[other] = max(handled[other] ?? 0, settled) }
            handled[partition] = offset
            records.append((sequence, .progress(progress, fenced: partition)))
        }

        var group: ConsumerGroup {
            ConsumerGroup(
                ownerGeneration: owners.keys.max() ?? 0,
                shares: Partition.all.map {
                    // The partitions that are not used have nothing to handle.
                    .init(offset: $0.number < 8 ? handled[$0] ?? 0 : StreamPosition.end(of: sequence))
                },
                progress: [:], members: [])
        }
    }

    @Test("Progress is found from any recorded group, even if the fences before it are not read", arguments: 0..<60)
    func random(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var history = History()
        history.claim(Array(Partition.all.prefix(8)))
        var groups: [ConsumerGroup] = []
        for _ in 0..<150 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0:
                let size = Int.random(in: 1...8, using: &generator)
                history.claim(Array(Partition.all.prefix(8).shuffled(using: &generator).prefix(size)))
            case 1, 3: groups.append(history.group)
            case 2: history.sequence += .random(in: 1...50, using: &generator)
            default:
                guard let fence = history.fences.sorted(by: { $0.key < $1.key }).randomElement(using: &generator)
                else { continue }
                history.progress(fence.value, fence.key, toAll: generator.chance(1, in: 5))
            }
        }
        var middles = 0
        for group in groups {
            var offsets = HandledOffsets(group, in: JournalEpochs(1))
            let start = HandledOffsets.start(of: group)
            for (sequence, record) in history.records where sequence >= start {
                switch record {
                case .fence(let fence, let partition): offsets.read(fence, of: partition, at: sequence)
                case .progress(let progress, let fenced): offsets.read(progress, fenced: fenced, at: sequence)
                }
            }
            if start > 1 { middles += 1 }
            for partition in Partition.all.prefix(8) {
                let handled = offsets.handled(partition, ownerGeneration: history.fences[partition])
                #expect(handled == history.handled[partition], "\(partition.number)")
            }
        }
        if seed == 0 { #expect(middles > 0) }
    }

    @Test("Progress of an owner with an unread fence counts until the next fence, which names that owner")
    func fenceBeforeStart() {
        let (first, second) = (Partition.all[0], Partition.all[1])
        for previous in [1, 0] as [UInt64] {
            var offsets = HandledOffsets(ConsumerGroup(), in: JournalEpochs(1))
            offsets.read(
                RecordedProgress(ownerGeneration: 1, offset: 50, settled: 40, partition: first), fenced: first, at: 5)
            offsets.read(FenceRecord(ownerGeneration: 2, previous: previous, member: UUID()), of: second, at: 60)
            offsets.read(
                RecordedProgress(ownerGeneration: 1, offset: 90, settled: 90, partition: nil), fenced: first, at: 5)
            #expect(offsets.handled(first) == 90)
            #expect(offsets.handled(second) == (previous == 1 ? 40 : 0))
        }
    }

    @Test("Progress of an earlier owner does not count for a partition that it has lost")
    func lost() {
        let (first, second) = (Partition.all[0], Partition.all[1])
        var offsets = HandledOffsets(ConsumerGroup(), in: JournalEpochs(1))
        for partition in [first, second] {
            offsets.read(FenceRecord(ownerGeneration: 1, previous: 0, member: UUID()), of: partition, at: 10)
        }
        offsets.read(
            RecordedProgress(ownerGeneration: 1, offset: 20, settled: 15, partition: first), fenced: first, at: 5)
        offsets.read(FenceRecord(ownerGeneration: 2, previous: 1, member: UUID()), of: second, at: 30)
        offsets.read(
            RecordedProgress(ownerGeneration: 1, offset: 50, settled: 50, partition: first), fenced: first, at: 5)
        #expect(offsets.handled(first) == 50)
        #expect(offsets.handled(second) == 15)
        #expect(offsets.progressFence == 10)
    }

    @Test("Progress of an ended epoch counts only if the next epoch still had its record")
    func endedEpoch() {
        let partition = Partition.all[0]
        let epochs = JournalEpochs(1).beginning(2, after: 10)
        func progress(_ offset: UInt64, in epoch: UInt64?) -> RecordedProgress {
            RecordedProgress(ownerGeneration: 1, offset: offset, settled: 0, partition: partition, epoch: epoch)
        }
        for epoch in [1, nil] as [UInt64?] {
            var offsets = HandledOffsets(ConsumerGroup(), in: epochs)
            offsets.read(progress(500, in: epoch), fenced: partition, at: 10)
            #expect(offsets.handled(partition) == 500)
            offsets.read(progress(600, in: epoch), fenced: partition, at: 11)
            #expect(offsets.handled(partition) == 500)
            offsets.read(progress(700, in: 2), fenced: partition, at: 12)
            #expect(offsets.handled(partition) == 700)
        }
        let group = ConsumerGroup(
            ownerGeneration: 3, shares: Partition.all.map { _ in .init(ownerGeneration: 3, offset: 500) },
            progress: [3: 600],
            members: [])
        let kept = GroupRecord(group, epoch: 1).existing(in: epochs, at: 10)
        #expect(kept?.handled(partition) == 600)
        #expect(kept?.shares[0].ownerGeneration == 0, "the partition is claimed anew")
        #expect(kept?.ownerGeneration == 3)
        #expect(GroupRecord(group, epoch: 1).existing(in: epochs, at: 11)?.handled(partition) == 0)
        #expect(GroupRecord(group, epoch: 2).existing(in: epochs, at: 11) == group)
        // The third epoch begins with a copy from before the second one.
        let third = epochs.beginning(3, after: 4)
        for epoch in [1, 2, nil] as [UInt64?] {
            #expect(third.counts(epoch, recordedAt: 4))
            #expect(!third.counts(epoch, recordedAt: 5))
        }
        #expect(!third.counts(7, recordedAt: 5))
        #expect(third.counts(3, recordedAt: 5))
        #expect(JournalEpochs(metadata: third.metadata) == third)
    }

    @Test("Progress is complete when the reader's own fences have arrived")
    func complete() {
        let (first, second) = (Partition.all[0], Partition.all[1])
        var offsets = HandledOffsets(ConsumerGroup(), in: JournalEpochs(1))
        #expect(!offsets.hasRead([first: 10]))
        offsets.read(FenceRecord(ownerGeneration: 1, previous: 0, member: UUID()), of: first, at: 9)
        #expect(!offsets.hasRead([first: 10]))
        offsets.read(FenceRecord(ownerGeneration: 2, previous: 1, member: UUID()), of: first, at: 10)
        #expect(offsets.hasRead([first: 10]))
        #expect(!offsets.hasRead([first: 10, second: 11]))
        // Another claimant was faster: its fence is after the reader's.
        offsets.read(FenceRecord(ownerGeneration: 3, previous: 2, member: UUID()), of: second, at: 12)
        #expect(offsets.hasRead([first: 10, second: 11]))
    }
}
