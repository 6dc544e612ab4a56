internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Support

/// The control records of the journal, as retention uses them: it reads the progress of the durable consumers, and
/// removes the records that newer ones have replaced.
actor ControlRecords {
    /// A durable consumer.
    struct Consumer {
        fileprivate let group: ConsumerGroup
        fileprivate let progress: HandledOffsets
        /// The highest offset of each type that is recorded as lost.
        fileprivate(set) var recorded: [MessageType: UInt64] = [:]

        func handled(_ partition: Partition) -> UInt64 {
            let epoch = group.shares[Int(partition.number)].ownerGeneration
            return progress.handled(partition, ownerGeneration: epoch > 0 ? epoch : nil)
        }

        /// The offset up to which all partitions are handled.
        var position: UInt64 { Partition.all.map(handled).min() ?? 0 }
    }

    /// The progress of a consumer, as far as it was read.
    private struct Reading {
        /// The group at the beginning of the reading.
        let first: ConsumerGroup
        /// The group at the last reading.
        var group: ConsumerGroup
        var offsets: HandledOffsets
        var end: UInt64

        init(_ group: ConsumerGroup, in epochs: JournalEpochs) {
            first = group
            self.group = group
            offsets = HandledOffsets(group, in: epochs)
            end = HandledOffsets.start(of: group) - 1
        }

        /// False if the consumer was removed, and another one of its name begins earlier.
        func continues(in group: ConsumerGroup) -> Bool {
            Partition.all.allSatisfy { group.handled($0) >= first.handled($0) }
        }
    }

    /// The time after which the record of a lease that has ended is removed.
    private static let leaseAge = Duration.seconds(7 * 24 * 60 * 60)

    private let jetStream: JetStream
    private let names: StreamNames
    private let epochs: JournalEpochs
    private let records: RecordStore
    private var readings: [String: Reading] = [:]
    /// The consumers that were removed, as of the last reading.
    private var removed: Set<String> = []

    init(_ jetStream: JetStream, names: StreamNames, epochs: JournalEpochs, notices: StewardNotices) {
        self.jetStream = jetStream
        self.epochs = epochs
        self.names = names
        records = RecordStore(jetStream, names, reporting: notices.report)
    }

    // MARK: Consumers

    /// Reads the consumers, and what they have handled since the last call.
    func consumers() async throws -> [String: Consumer] {
        var groups: [String: ConsumerGroup] = [:]
        var removed: Set<String> = []
        let (names, epochs, records) = (names, epochs, records)
        let settings = ConsumerSettings(filters: [names.groups], start: .lastPerSubject)
        try await jetStream.readAll(of: names.journal, settings) { delivered in
            guard case .group(let consumer) = BusSubject(delivered.subject, in: names.namespace) else { return }
            // A record of a newer program keeps everything: the error ends this step of retention.
            let record = try records.record(GroupRecord.self, of: delivered)
            if record.value?.exists == false { removed.insert(consumer) }
            // Without a valid record, what the consumer has handled is read from the journal.
            groups[consumer] =
                record.damage == nil
                ? record.value?.existing(in: epochs, at: record.sequence) : ConsumerGroup()
        }
        var consumers: [String: Consumer] = [:]
        for (name, group) in groups {
            let offsets = try await readProgress(of: name, group)
            var consumer = Consumer(group: group, progress: offsets)
            if case .value(let record, let sequence) = try await cutOffs(of: name) {
                for cutOff in record.cutOffs(recordedAt: sequence, progress: nil) {
                    consumer.recorded[cutOff.type] = max(
                        consumer.recorded[cutOff.type] ?? 0, cutOff.offsets.upperBound)
                }
            }
            consumers[name] = consumer
        }
        readings = readings.filter { groups[$0.key] != nil }
        self.removed = removed
        return consumers
    }

    private func readProgress(of consumer: String, _ group: ConsumerGroup) async throws -> HandledOffsets {
        var reading = readings[consumer].flatMap { $0.continues(in: group) ? $0 : nil } ?? Reading(group, in: epochs)
        reading.group = group
        let (names, records) = (names, records)
        let settings = ConsumerSettings(
            filters: names.progress(of: consumer), start: .sequence(Int(clamping: reading.end + 1)))
        try await jetStream.readAll(of: names.journal, settings) { delivered in
            reading.end = UInt64(delivered.streamSequence)
            try await reading.offsets.read(delivered, in: names) { try records.record(FenceRecord.self, of: $0).value }
        }
        readings[consumer] = reading
        return reading.offsets
    }

    // MARK: Cut-offs

    private func cutOffs(of consumer: String) async throws -> RecordReading<CutOffRecord> {
        try await records.last(CutOffRecord.self, .cutOffs(consumer: consumer), of: names.journal)
    }

    /// Adds what a consumer loses to its record.
    /// - Returns: True if the record had none before that the consumer has not acknowledged.
    func add(_ cutOffs: [CutOff], to consumer: String) async throws -> Bool {
        let progress = readings[consumer]?.offsets.progressFence
        while true {
            let last = try await self.cutOffs(of: consumer)
            // A damaged record is replaced.
            let (record, sequence) = (last.value ?? CutOffRecord(), last.value.map { _ in last.sequence })
            let isFirst = record.cutOffs(recordedAt: sequence, progress: progress).isEmpty
            let next = record.adding(cutOffs, recordedAt: sequence, progress: progress)
            // Only the leading steward writes these records.
            let stored = try await records.replace(last.sequence, by: next, at: .cutOffs(consumer: consumer))
            if stored != nil { return isFirst }
        }
    }

    // MARK: Removed batches

    /// Records that the batches before a sequence will be removed.
    func recordRemoval(before limit: UInt64) async throws {
        let record = RemovalRecord(sequence: limit - 1)
        while true {
            let last = try await records.last(RemovalRecord.self, .removal, of: names.journal)
            if let known = last.value, known.sequence >= record.sequence { return }
            if try await records.replace(last.sequence, by: record, at: .removal) != nil { return }
        }
    }

    // MARK: Superseded records

    /// Removes the records that are not needed any more.
    func removeSuperseded(at now: Date) async throws {
        for (consumer, reading) in readings.sorted(by: { $0.key < $1.key }) {
            try await raiseFloor(of: consumer, reading)
        }
        let counts = try await jetStream.retrying {
            try await jetStream.subjects(of: names.journal, matching: names.records)
        }
        try await keepNewest(counts)
        try await removeEndedLeases(at: now)
        try await removeEndedConsumers(counts, at: now)
    }

    /// Records what a consumer has handled in its group, then removes the records from which this was computed. A claim
    /// reads from the recorded position on.
    private func raiseFloor(of consumer: String, _ reading: Reading) async throws {
        let last = try await records.last(GroupRecord.self, .group(consumer: consumer), of: names.journal)
        guard let group = last.value?.existing(in: epochs, at: last.sequence),
            // Otherwise the consumer may have been removed since its progress was read, and the group is that of
            // another one with the same name.
            group == reading.group
        else { return }
        let raised = group.recording(reading.offsets)
        guard raised.isWorthRecording(insteadOf: group) else { return }
        // A claim from the new position on cannot know that the cut-offs were acknowledged before it.
        if try await cutOffs(of: consumer).sequence > 0 { _ = try await add([], to: consumer) }
        let stored = try await records.replace(
            last.sequence, by: GroupRecord(raised, epoch: epochs.current), at: .group(consumer: consumer))
        // If a member has claimed meanwhile, the next step does it.
        guard stored != nil else { return }
        // Up to here, everything is in the record of the group.
        let end = Int(clamping: reading.end)
        let (names, jetStream) = (names, jetStream)
        _ = try await jetStream.retrying {
            try await jetStream.purge(
                names.journal, filter: names.progressRecords(of: consumer), before: end + 1)
        }
        try await removeFences(of: consumer, before: HandledOffsets.start(of: raised))
    }

    /// Removes the fences that have been replaced before a sequence. A claim reads all fences after it, and each batch
    /// needs the last one.
    private func removeFences(of consumer: String, before start: UInt64) async throws {
        var lasts: [String: Int] = [:]
        let settings = ConsumerSettings(
            filters: [names.fences(of: consumer)], start: .lastPerSubject, headersOnly: true)
        try await jetStream.readAll(of: names.journal, settings) { lasts[$0.subject] = $0.streamSequence }
        for (subject, last) in lasts where UInt64(last) < start {
            _ = try await jetStream.retrying {
                try await jetStream.purge(names.journal, filter: subject, before: last)
            }
        }
    }

    /// Keeps the newest record of each group, lease, cut-off record and removal, and of the steward.
    /// - Parameter counts: The number of records of each subject.
    private func keepNewest(_ counts: [String: Int]) async throws {
        for (subject, count) in counts where count > 1 {
            switch BusSubject(subject, in: names.namespace) {
            case .group, .lease, .cutOffs, .removal, .steward:
                _ = try await jetStream.retrying {
                    try await jetStream.purge(names.journal, filter: subject, keep: 1)
                }
            default: break
            }
        }
    }

    /// Removes the fences and the progress of consumers that were removed long ago. The record that a consumer was
    /// removed stays, because no owner generation may be assigned twice.
    ///
    /// A fence shows that the results before it are not those of a later consumer of the same name. So it stays as long
    /// as the journal has a batch before it.
    /// - Parameter counts: The number of records of each subject.
    private func removeEndedConsumers(_ counts: [String: Int], at now: Date) async throws {
        let (names, records, oldest) = (names, records, Self.oldest(at: now))
        let withRecords = counts.keys.compactMap { subject -> String? in
            switch BusSubject(subject, in: names.namespace) {
            case .fence(let owner), .progress(let owner): owner.consumer
            default: nil
            }
        }
        let candidates = removed.intersection(withRecords)
        guard !candidates.isEmpty else { return }
        // Read before the groups: what a new consumer of the same name writes comes after it.
        let end = try await jetStream.retrying { try await jetStream.stream(names.journal) }.lastSequence + 1
        let first = try await jetStream.retrying {
            try await jetStream.firstSequence(
                of: names.journal, ConsumerSettings(filters: [names.batches], headersOnly: true))
        }
        let limit = min(first.map { Int(clamping: $0) } ?? end, end)
        var ended: Set<String> = []
        try await jetStream.readAll(
            of: names.journal, ConsumerSettings(filters: [names.groups], start: .lastPerSubject)
        ) { delivered in
            guard delivered.time < oldest,
                case .group(let consumer) = BusSubject(delivered.subject, in: names.namespace),
                (try? records.record(GroupRecord.self, of: delivered))?.value?.exists == false
            else { return }
            ended.insert(consumer)
        }
        for consumer in ended.intersection(candidates).sorted() {
            for filter in [names.progressRecords(of: consumer), names.fences(of: consumer)] {
                _ = try await jetStream.retrying {
                    try await jetStream.purge(names.journal, filter: filter, before: limit)
                }
            }
        }
    }

    /// Records of what has ended before this time, in nanoseconds since 1970, are not needed any more.
    private static func oldest(at now: Date) -> Int64 {
        JetStreamTime.nanoseconds(of: now.addingTimeInterval(-(leaseAge / .seconds(1))))
    }

    /// Removes the records of producers whose lease has ended long ago.
    private func removeEndedLeases(at now: Date) async throws {
        let oldest = Self.oldest(at: now)
        var ended: [String: Int] = [:]
        let records = records
        try await jetStream.readAll(
            of: names.journal, ConsumerSettings(filters: [names.leases], start: .lastPerSubject)
        ) { delivered in
            guard delivered.time < oldest,
                (try? records.record(LeaseRecord.self, of: delivered))?.value?.state == .withdrawn
            else { return }
            ended[delivered.subject] = delivered.streamSequence
        }
        for (subject, sequence) in ended {
            _ = try await jetStream.retrying {
                try await jetStream.purge(names.journal, filter: subject, before: sequence + 1)
            }
        }
    }
}
