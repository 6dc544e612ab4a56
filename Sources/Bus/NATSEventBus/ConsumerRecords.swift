internal import BusFormat
internal import EventBus
internal import Foundation
internal import NATS
internal import NATSJournal
internal import NATSLayout

/// The records of durable consumers in the journal: groups, fences and progress. It has no state of its own.
struct ConsumerRecords: Sendable {
    /// The number of requests that are under way at the same time.
    private static let parallelCount = 32

    let journal: JournalConnection
    /// The maximum number of durable consumers of a journal.
    var capacity = ConsumerLimits.consumers
    /// The time for which a server may hide a record that another one has.
    var patience = ClaimHealth.patience
    /// The number of sequences after which the progress is recorded in the group.
    var floorStep = HandledOffsets.recordingStep

    /// The servers do not have the fences that this client has written.
    struct FencesLost: Error {}

    // MARK: Groups

    /// A group with the sequence of its record.
    struct Group: Sendable {
        var group: ConsumerGroup
        /// 0 if the group is not recorded.
        var sequence: UInt64
    }

    /// - Parameter epochs: The epochs of the journal, as this process knows them.
    /// - Throws: ``BusError``, also `epoch` if the record belongs to a later epoch.
    func groupRecord(of consumer: String, in epochs: JournalEpochs) async throws -> RecordReading<GroupRecord> {
        let record = try await journal.read(GroupRecord.self, .group(consumer: consumer))
        guard let epoch = record.value?.epoch, !epochs.knows(epoch) else { return record }
        try await journal.confirm()
        throw BusError(.epoch, "the durable consumer '\(consumer)' was claimed in another epoch of the journal")
    }

    /// Assigns partitions to a member, in the recorded group. If its record is damaged, a new group replaces it: its
    /// owner generation is read from the fences, and its progress from the journal.
    /// - Parameters:
    ///   - epochs: The epochs of the journal: what was handled in an earlier one counts as far as they agree.
    ///   - floor: The owner generation of a fence that the member could not replace; 0 for none. The member gets a
    ///     higher one: the group's record was lost, and a new one counts from 1.
    ///   - fenced: The partitions that the member has fenced. If it has others now, it gets a new owner generation:
    ///     progress under the old one would also count for those that it has lost, or did not have before.
    func assign(
        _ consumer: String, to member: ConsumerMember, in epochs: JournalEpochs, above floor: UInt64 = 0,
        fenced: FencedPartitions = FencedPartitions()
    ) async throws -> Group {
        while true {
            let last = try await groupRecord(of: consumer, in: epochs)
            var known = last.group(in: epochs)
            var otherConsumers: Int?
            switch last {
            case .value(let record, _):
                if !record.exists { otherConsumers = try await consumerCount(in: epochs) }
            case .absent, .damaged:
                if last.sequence == 0 { otherConsumers = try await consumerCount(in: epochs) }
                // The group is new, or its record is lost. Progress under an owner generation counts for all partitions
                // that are owned under it, so no owner generation may be assigned twice.
                known = ConsumerGroup(after: try await highestOwnerGeneration(of: consumer, in: epochs))
            }
            let group: ConsumerGroup
            do {
                group = try known.claimed(
                    by: member, of: consumer, otherConsumers: otherConsumers, limit: capacity
                ) { ownership in
                    // The same owner generation is not enough: the fence may be that of another member.
                    let isOvertaken = floor > 0 && ownership.ownerGeneration <= floor && !ownership.offsets.isEmpty
                    return isOvertaken || fenced.needsNewOwnerGeneration(for: ownership)
                        ? max(floor, fenced.ownerGeneration) : nil
                }.group
            } catch {
                throw BusError(error)
            }
            if let record = last.value, !record.exists {
                try await writeRemovals(of: consumer, through: known.ownerGeneration)
            }
            guard group.ownerGeneration < GroupRecord.maximumOwnerGeneration else {
                throw BusError(
                    .refused,
                    "the durable consumer '\(consumer)' cannot be claimed: a record has the highest owner "
                        + "generation, which no client writes; remove the records 'k.g' and 'k.f' of the consumer")
            }
            if last.existing(in: epochs) == group { return Group(group: group, sequence: last.sequence) }
            if let sequence = try await journal.write(
                GroupRecord(group, epoch: epochs.current), .group(consumer: consumer), after: last.sequence)
            {
                return Group(group: group, sequence: sequence)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...20)))
        }
    }

    private func consumerCount(in epochs: JournalEpochs) async throws -> Int {
        // The subjects of removed consumers count, too. Only then are all groups read, which takes longer.
        let count = try await names().count
        return count < capacity ? count : try await groups(in: epochs).count
    }

    /// Changes the recorded group.
    /// - Parameter change: Returns nil if there is nothing to change.
    func change(_ consumer: String, _ change: (ConsumerGroup) throws -> ConsumerGroup?) async throws {
        while true {
            let epochs = try await journal.identity().epochs
            let last = try await groupRecord(of: consumer, in: epochs)
            guard let group = try last.existing(in: epochs).flatMap(change) else { return }
            let record = GroupRecord(group, epoch: epochs.current)
            if try await journal.write(record, .group(consumer: consumer), after: last.sequence) != nil { return }
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...20)))
        }
    }

    /// Records in the group how far a consumer is, if the next claim would read much otherwise.
    /// - Parameter last: The recorded group. If it has changed meanwhile, nothing is recorded.
    func recordFloor(
        of consumer: String, _ group: ConsumerGroup, insteadOf last: Group, epoch: UInt64
    ) async throws {
        guard group.isWorthRecording(insteadOf: last.group, step: floorStep) else { return }
        _ = try await journal.write(GroupRecord(group, epoch: epoch), .group(consumer: consumer), after: last.sequence)
    }

    /// The names of all consumers, and of those that were removed.
    func names() async throws -> [String] {
        let subjects = try await journal.subjects(of: journal.names.journal, matching: journal.names.groups)
        return subjects.compactMap { subject in
            guard case .group(let consumer) = BusSubject(subject, in: journal.names.namespace) else { return nil }
            return consumer
        }
    }

    /// All groups by the name of the consumer.
    func groups(in epochs: JournalEpochs) async throws -> [String: ConsumerGroup] {
        var rest = try await names()[...]
        var groups: [String: ConsumerGroup] = [:]
        while !rest.isEmpty {
            try await withThrowingTaskGroup(of: (String, ConsumerGroup?).self) { tasks in
                for name in rest.prefix(Self.parallelCount) {
                    tasks.addTask { (name, try await groupRecord(of: name, in: epochs).existing(in: epochs)) }
                }
                for try await (name, group) in tasks { groups[name] = group }
            }
            rest = rest.dropFirst(Self.parallelCount)
        }
        return groups
    }

    // MARK: Fences

    enum Fencing: Sendable {
        /// The sequences of the fences.
        case written([Partition: UInt64])
        /// A fence of this higher owner generation is there.
        case overtaken(UInt64)
    }

    /// Writes the fences of a new owner, all at once. Fences that it has written before stay.
    func writeFences(
        of consumer: String, _ partitions: some Collection<Partition>, ownerGeneration: UInt64, member: UUID,
        in epochs: JournalEpochs
    ) async throws -> Fencing {
        let known = try await fences(of: consumer)
        return try await withThrowingTaskGroup(of: (Partition, FenceRecord, UInt64).self) { tasks in
            for partition in partitions {
                tasks.addTask {
                    let (fence, sequence) = try await journal.raiseFence(
                        of: ConsumerPartition(consumer, partition), to: ownerGeneration, member: member,
                        after: known[partition] ?? .absent)
                    return (partition, fence, sequence)
                }
            }
            var written: [Partition: UInt64] = [:]
            var overtaking: UInt64?
            for try await (partition, fence, sequence) in tasks {
                if fence.ownerGeneration == ownerGeneration, fence.member == member {
                    written[partition] = sequence
                } else {
                    overtaking = fence.ownerGeneration
                }
            }
            if let last = written.values.max() { journal.see(fence: last, of: epochs.current) }
            return overtaking.map { .overtaken($0) } ?? .written(written)
        }
    }

    /// The last fences, from any server.
    private func fences(of consumer: String) async throws -> [Partition: RecordReading<FenceRecord>] {
        let filter = journal.names.fences(of: consumer)
        let last = try await journal.retrying {
            try await journal.jetStream.lastMessages(of: journal.names.journal, filters: [filter])
        }
        var fences: [Partition: RecordReading<FenceRecord>] = [:]
        for message in last.messages {
            guard case .fence(let owner) = BusSubject(message.subject, in: journal.names.namespace) else { continue }
            fences[owner.partition] = try journal.record(of: message)
        }
        return fences
    }

    /// The last fence of a partition, from the leader.
    func fence(of owner: ConsumerPartition) async throws -> RecordReading<FenceRecord> {
        try await journal.read(FenceRecord.self, .fence(owner))
    }

    /// The highest owner generation that the journal has of a consumer, in fences and progress; 0 for a new consumer.
    func highestOwnerGeneration(of consumer: String, in epochs: JournalEpochs) async throws -> UInt64 {
        var highest: UInt64 = 0
        let last = try await journal.lastSequence()
        try await journal.readHeaders(
            journal.names.progress(of: consumer), from: 1, through: last, epoch: epochs.current
        ) { message in
            switch BusSubject(message.subject, in: journal.names.namespace) {
            case .fence: highest = max(highest, try await fence(in: message)?.ownerGeneration ?? 0)
            case .results, .progress:
                highest = max(highest, (try? message.batchHeaders())?.progress?.ownerGeneration ?? 0)
            default: break
            }
            return .goOn
        }
        return highest
    }

    /// Writes the fences of a removed consumer where they are missing.
    func writeRemovals(of consumer: String, through ownerGeneration: UInt64) async throws {
        let known = try await fences(of: consumer)
        try await withThrowingDiscardingTaskGroup { tasks in
            for (partition, fence) in known {
                tasks.addTask {
                    _ = try await journal.raiseFence(
                        of: ConsumerPartition(consumer, partition), to: ownerGeneration, member: FenceRecord.removal,
                        after: fence)
                }
            }
        }
    }

    // MARK: Progress

    /// Reads the progress of a consumer, at least until the own fences have come: everything that earlier owners have
    /// recorded is before them.
    /// - Parameter fences: The sequences of the own fences.
    /// - Throws: ``FencesLost`` if they do not come.
    func progress(
        of consumer: String, _ group: ConsumerGroup, in epochs: JournalEpochs, fences: [Partition: UInt64] = [:]
    ) async throws -> HandledOffsets {
        let start = ContinuousClock.now
        while true {
            var offsets = HandledOffsets(group, in: epochs)
            // What the member itself has recorded is after its fences. The leader knows how far that is.
            let last = max(try await journal.lastSequence(), fences.values.max() ?? 0)
            try await journal.readHeaders(
                journal.names.progress(of: consumer), from: HandledOffsets.start(of: group), through: last,
                epoch: epochs.current
            ) { message in
                try await offsets.read(message, in: journal.names, fence: fence)
                return .goOn
            }
            // A server that has lost the lead without knowing it may have hidden them.
            if offsets.hasRead(fences) { return offsets }
            guard ContinuousClock.now - start < patience else { throw FencesLost() }
            try await journal.pause(0)
        }
    }

    /// The fence of a message without its body.
    private func fence(in message: DeliveredMessage) async throws -> FenceRecord? {
        let copy = FenceRecord.copyHeader.flatMap { message.message.header($0) }
        // check-lines: the body has the same record.
        if let copy, let fence = try? FenceRecord(json: copy.utf8) { return fence }
        let stored = try await journal.retrying {
            try await journal.jetStream.message(of: journal.names.journal, sequence: message.streamSequence)
        }
        return try stored.flatMap { try journal.record(FenceRecord.self, of: $0).value }
    }
}

extension RecordReading<GroupRecord> {
    /// The group as it is in the present epoch of the journal; nil if the consumer was removed, or there is no valid
    /// record.
    func existing(in epochs: JournalEpochs) -> ConsumerGroup? { value?.existing(in: epochs, at: sequence) }

    /// The group to which a member is added.
    func group(in epochs: JournalEpochs) -> ConsumerGroup {
        value?.group(in: epochs, at: sequence) ?? ConsumerGroup()
    }
}
