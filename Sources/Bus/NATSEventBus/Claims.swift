internal import BusFormat
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSLayout
internal import Support

/// The durable consumers of this process: its members, their claims, and the readers under them.
///
/// A claim is a record of the group, a fence for each partition, and the progress before the fences. Every second the
/// claims are compared with the recorded groups.
actor Claims {
    private static let renewalInterval = Duration.seconds(1)
    /// The number of renewals after which a waiting reader's progress is recorded.
    private static let idleRounds = 5
    /// The time that ``leave(consumer:as:)`` takes at most. Without it, the steward ends the membership.
    private static let leavingTime = Duration.seconds(2)

    private let records: ConsumerRecords
    private let patience: Duration
    private let logger: Logger
    /// The members that leave. Their callers may be cancelled.
    private let departures = OwnedWork()
    private var isClosed = false
    private var members: [ClaimMember.ID: ClaimMember] = [:]
    private var watches = ClaimWatches()

    private var journal: JournalConnection { records.journal }

    /// - Parameters:
    ///   - floorStep: The number of sequences after which the progress is recorded in the group, so that the next claim
    ///     reads less.
    ///   - patience: The time after which a consumer without a valid claim is reported.
    init(
        _ journal: JournalConnection, floorStep: UInt64 = HandledOffsets.recordingStep,
        patience: Duration = ClaimHealth.patience,
        logger: Logger
    ) {
        self.patience = patience
        self.logger = logger
        records = ConsumerRecords(journal: journal, patience: patience, floorStep: floorStep)
    }

    /// Renews the claims until the task is cancelled.
    /// - Parameter record: Publishes a checkpoint without messages, for a reader that waits.
    func run(recording record: @escaping @Sendable (Checkpoint) async throws -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.departures.run() }
            group.addTask {
                // Not after a renewal: that waits while no server answers.
                while (try? await Task.sleep(for: Self.renewalInterval)) != nil { await self.reportHealth() }
            }
            group.addTask {
                var round = 0
                while (try? await Task.sleep(for: Self.renewalInterval)) != nil {
                    round += 1
                    await self.renew()
                    if round.isMultiple(of: Self.idleRounds) { await self.recordIdleProgress(with: record) }
                }
            }
        }
        close()
    }

    private func close() {
        isClosed = true
        departures.finish()
        for member in members.values { member.answers?.stop() }
        watches.end { _ in true }
    }

    private func requireOpen() throws {
        if isClosed { throw journal.endError }
    }

    /// The members of this process, for the heartbeat.
    var heartbeatMembers: [Heartbeat.Member] {
        members.map { id, member in
            Heartbeat.Member(
                consumer: id.consumer, id: id.member, isExclusive: member.mode == .exclusive,
                problem: member.health.report(at: .now, after: patience))
        }
    }

    // MARK: Claims

    /// See ``ClaimingEngine/claim(consumer:as:)``.
    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try requireOpen()
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        let id = ClaimMember.ID(consumer: consumer, member: member.id)
        do {
            try await join(id, member.mode)
            let call = UUID()
            members[id]?.beginClaim(call)
            defer { members[id]?.endClaim(call) }
            while true {
                let epochs = try await journal.identity().epochs
                guard let claim = try await claim(consumer, for: member, id: id, in: epochs) else { continue }
                if members[id]?.health.hasLostFence == false { recordValid(id) }
                return claim
            }
        } catch let error as BusError {
            if let known = members[id], !known.isClaiming, known.claim == nil || error.code == .fenced { end(id) }
            throw error
        }
    }

    /// - Returns: Nil if the journal has another epoch meanwhile.
    private func claim(
        _ consumer: String, for member: ConsumerMember, id: ClaimMember.ID, in epochs: JournalEpochs
    ) async throws -> ConsumerClaim? {
        do {
            let claim = try await makeClaim(consumer, for: member, id: id, in: epochs)
            return try await journal.identity().epoch == epochs.current ? claim : nil
        } catch let error as BusError where error.code == .epoch {
            if try await journal.identity().epoch != epochs.current { return nil }
            throw error
        }
    }

    private func makeClaim(
        _ consumer: String, for member: ConsumerMember, id: ClaimMember.ID, in epochs: JournalEpochs
    ) async throws -> ConsumerClaim {
        var floor: UInt64 = 0
        while true {
            let fenced = try update(id) { $0.fenced }
            let assigned = try await records.assign(
                consumer, to: member, in: epochs, above: floor, fenced: fenced)
            let ownership = assigned.group.ownership(of: member.id)
            try update(id) { $0.recordFences(of: ownership) }
            let fencing = try await records.writeFences(
                of: consumer, ownership.offsets.keys, ownerGeneration: ownership.ownerGeneration, member: member.id,
                in: epochs)
            guard case .written(let fences) = fencing else {
                if case .overtaken(let generation) = fencing { floor = generation }
                continue
            }
            let handled: HandledOffsets
            do {
                handled = try await records.progress(of: consumer, assigned.group, in: epochs, fences: fences)
            } catch is ConsumerRecords.FencesLost {
                recordLostFences(of: id)
                continue
            }
            let offsets = try update(id) { $0.adopt(ownership, fences: fences, handled: handled, in: epochs.current) }
            let cutOffs = try await journal.read(CutOffRecord.self, .cutOffs(consumer: consumer))
            try await records.recordFloor(
                of: consumer, assigned.group.recording(handled), insteadOf: assigned, epoch: epochs.current)
            let claim = ConsumerClaim(
                consumer: consumer, member: member, ownerGeneration: ownership.ownerGeneration, epoch: epochs.current,
                offsets: offsets,
                cutOffs: cutOffs.value?
                    .cutOffs(recordedAt: cutOffs.sequence, progress: handled.progressFence) ?? [])
            watches.end(of: consumer, in: assigned.group, epoch: epochs.current)
            return claim
        }
    }

    /// Changes a member while it claims.
    /// - Throws: `CancellationError` if it has left meanwhile. Only ``join(_:_:)`` adds members.
    private func update<Result>(_ id: ClaimMember.ID, _ change: (inout ClaimMember) -> Result) throws -> Result {
        guard var member = members[id] else {
            // The claim may have recorded the member after it had left the group.
            departures.begin { await self.leaveGroup(id) }
            throw CancellationError()
        }
        defer { members[id] = member }
        return change(&member)
    }

    // MARK: Health

    /// Records that the servers do not have fences that a member has written. Its next claim writes others.
    private func recordLostFences(of id: ClaimMember.ID) {
        guard members[id]?.recordLostFences() == true else { return }
        logger.error("the durable consumer '\(id.consumer)' claims again: the servers have lost records of its claim")
    }

    private func recordValid(_ id: ClaimMember.ID) {
        guard members[id]?.health.recordValid(at: .now) == true else { return }
        logger.info("the durable consumer '\(id.consumer)' has a valid claim again")
    }

    private func reportHealth() {
        for id in members.keys {
            guard let report = members[id]?.health.reportOnce(at: .now, after: patience) else { continue }
            // While no server answers, that is the reason.
            let wait = journal.waitReason.map { " (\($0))" } ?? ""
            logger.warning("the durable consumer '\(id.consumer)' \(report)\(wait)")
        }
    }

    // MARK: Members

    /// Adds a member unless it is there. If it is exclusive, it answers from now on that it is alive.
    private func join(_ id: ClaimMember.ID, _ mode: ConsumerMode) async throws {
        if members[id] == nil {
            let answers = mode == .exclusive ? AliveAnswers(of: id.member, in: journal) : nil
            members[id] = ClaimMember(mode, answers: answers)
        }
        try await members[id]?.answers?.start()
        try Task.checkCancellation()
        try requireOpen()
    }

    private func end(_ id: ClaimMember.ID) {
        // Before the member leaves the group: a process that removes the consumer then asks if the member is alive.
        members.removeValue(forKey: id)?.answers?.stop()
        watches.end { ClaimMember.ID($0) == id }
    }

    /// See ``ClaimingEngine/leave(consumer:as:)``.
    func leave(consumer: String, as member: ConsumerMember) async {
        await leave(ClaimMember.ID(consumer: consumer, member: member.id))
    }

    private func leave(_ id: ClaimMember.ID) async {
        guard !isClosed else { return }
        // A claim that was cancelled may have added a member that is not known here.
        end(id)
        await departures.perform { await self.leaveGroup(id) }
    }

    /// Ends all memberships of this process.
    func leaveAll() async {
        await withDiscardingTaskGroup { group in
            for id in members.keys { group.addTask { await self.leave(id) } }
        }
    }

    private func leaveGroup(_ id: ClaimMember.ID) async {
        // If the member has joined again meanwhile, it stays.
        guard members[id] == nil else { return }
        let records = records
        _ = try? await withTimeLimit(Self.leavingTime) {
            // A failure leaves it to the steward.
            try? await records.change(id.consumer) { group in
                guard group.members.contains(id.member) else { return nil }
                var group = group
                group.leave(id.member)
                return group
            }
            await self.renew(id.consumer)
        }
    }

    // MARK: Consumers

    /// See ``BusInspection/consumers()``.
    func consumers() async throws -> [DurableConsumer] {
        try requireOpen()
        return try await ConsumerDirectory(records: records).consumers()
    }

    /// See ``BusInspection/forget(consumer:)``.
    func forget(consumer: String) async throws {
        try requireOpen()
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        try await ConsumerDirectory(records: records).forget(consumer: consumer)
        await renew(consumer)
    }

    // MARK: Fences

    /// The fence that a batch of a claim must expect, and the offset up to which its partition is handled. Nil if the
    /// claim has lost the partition.
    func ownership(
        of partition: Partition, by claim: ConsumerClaim
    ) async throws -> (fence: UInt64, handledOffset: UInt64)? {
        if let held = heldClaim(under: claim), !held.uncertain.contains(partition) {
            return held.fences[partition].map { ($0, held.handledOffset(of: partition)) }
        }
        guard let fence = try await expectedFence(of: partition, by: claim) else { return nil }
        return (fence, try await handledOffset(of: partition, by: claim))
    }

    /// The sequence of the fence that a batch of a claim must expect. Nil if the claim has lost the partition.
    private func expectedFence(of partition: Partition, by claim: ConsumerClaim) async throws -> UInt64? {
        if let held = heldClaim(under: claim) { return held.fences[partition] }
        // A claim that another object of this process has made, or one that was replaced since.
        let id = ClaimMember.ID(claim)
        guard claim.offsets[partition] != nil, claim.ownerGeneration > 0, members[id] != nil else { return nil }
        guard let sequence = try await recordedFence(of: partition, by: claim) else { return nil }
        members[id]?.addFence(sequence, of: partition, under: claim)
        return sequence
    }

    /// The sequence of the last fence of a partition, if it is that of the claim.
    private func recordedFence(of partition: Partition, by claim: ConsumerClaim) async throws -> UInt64? {
        let fence = try await records.fence(of: ConsumerPartition(claim.consumer, partition))
        guard let record = fence.value, record.ownerGeneration == claim.ownerGeneration,
            record.member == claim.member.id
        else {
            return nil
        }
        return fence.sequence
    }

    /// Asks the journal if a claim still owns a partition.
    /// - Throws: ``BusError`` with code `fenced`, or `epoch` if the member can claim again.
    func requireOwned(_ partition: Partition, by claim: ConsumerClaim) async throws {
        guard try await recordedFence(of: partition, by: claim) != nil else {
            throw try await recordRefusal(of: partition, by: claim)
        }
    }

    /// Records that the fence of a partition has been replaced.
    func lose(_ partition: Partition, of claim: ConsumerClaim) {
        change(claim) { $0.lose(partition) }
        watches.end { $0.consumer == claim.consumer && $0.ownerGeneration == claim.ownerGeneration }
    }

    /// Records that a claim has lost a partition: a batch was refused, or the claim does not have the last fence.
    /// - Returns: The error for the publisher of the batch.
    func recordRefusal(of partition: Partition, by claim: ConsumerClaim) async throws -> BusError {
        lose(partition, of: claim)
        // A member that has left, or was displaced, does not claim again.
        guard members[ClaimMember.ID(claim)] != nil else { return BusError.takenOver(claim.consumer) }
        switch try await state(of: claim, at: partition) {
        case .current:
            recordLostFences(of: ClaimMember.ID(claim))
            return BusError.lostClaimRecords(claim.consumer)
        case .ended: return BusError(LedgerRefusal(ended: claim.consumer))
        case .takenOver: return BusError.takenOver(claim.consumer)
        }
    }

    /// The state of a claim that does not have the last fence of a partition. If it is `current`, the servers have lost
    /// its fence.
    private func state(of claim: ConsumerClaim, at partition: Partition) async throws -> ClaimState {
        let epochs = try await journal.identity().epochs
        guard claim.epoch == epochs.current else { return .ended }
        // Another owner changes the group before it replaces the fence. Only damage removes or destroys the record.
        let record = try await records.groupRecord(of: claim.consumer, in: epochs)
        if record.value != nil {
            let state = record.group(in: epochs).state(of: claim, at: partition)
            guard state == .current else { return state }
        }
        let fence = try await records.fence(of: ConsumerPartition(claim.consumer, partition)).value
        guard let fence, fence.ownerGeneration > claim.ownerGeneration else { return .current }
        return [claim.member.id, FenceRecord.nobody].contains(fence.member) ? .ended : .takenOver
    }

    // MARK: Progress

    /// The offset up to which a partition of a claim is handled.
    private func handledOffset(of partition: Partition, by claim: ConsumerClaim) async throws -> UInt64 {
        guard let held = heldClaim(under: claim) else { return claim.offsets[partition] ?? 0 }
        let epochs = try await journal.identity().epochs
        guard held.uncertain.contains(partition), epochs.current == claim.epoch,
            let group = try await records.groupRecord(of: claim.consumer, in: epochs).existing(in: epochs)
        else { return held.handledOffset(of: partition) }
        let recorded: HandledOffsets
        do {
            recorded = try await records.progress(of: claim.consumer, group, in: epochs, fences: held.fences)
        } catch is ConsumerRecords.FencesLost {
            recordLostFences(of: ClaimMember.ID(claim))
            throw BusError.lostClaimRecords(claim.consumer)
        }
        change(claim) { $0.restore(partition, to: recorded.handled(partition, ownerGeneration: claim.ownerGeneration)) }
        return heldClaim(under: claim)?.handledOffset(of: partition) ?? 0
    }

    func record(_ progress: RecordedProgress, of claim: ConsumerClaim) {
        change(claim) { $0.record(progress) }
    }

    /// Records that a batch of this partition may be recorded or not.
    func recordUncertain(_ partition: Partition, of claim: ConsumerClaim) {
        change(claim) { $0.recordUncertain(partition) }
    }

    private func heldClaim(under claim: ConsumerClaim) -> HeldClaim? {
        members[ClaimMember.ID(claim)]?.held(under: claim)
    }

    private func change(_ claim: ConsumerClaim, _ change: (inout HeldClaim) -> Void) {
        members[ClaimMember.ID(claim)]?.change(claim, change)
    }

    // MARK: Renewal

    /// Watches a claim while `body` runs.
    /// - Throws: ``BusError`` with code `epoch` if the claim belongs to another journal; the error of `body`.
    nonisolated func withWatch<Result>(
        of claim: ConsumerClaim, progress: ConsumerProgress?, onEnd: @escaping @Sendable () -> Void,
        _ body: (ClaimWatch) async throws -> Result
    ) async throws -> Result {
        let watch = ClaimWatch(claim, progress: progress, onEnd: onEnd)
        try await begin(watch)
        do {
            let result = try await body(watch)
            await remove(watch)
            return result
        } catch {
            await remove(watch)
            throw error
        }
    }

    private func begin(_ watch: ClaimWatch) async throws {
        try requireOpen()
        let claim = watch.claim
        guard try await journal.identity().epoch == claim.epoch else {
            throw BusError(.epoch, "position \(claim.position) belongs to another journal")
        }
        try requireOpen()
        watches.add(watch)
        await renew(claim.consumer)
    }

    private func remove(_ watch: ClaimWatch) {
        watches.remove(watch)
    }

    private func renew() async {
        // Nothing that is recorded in a new epoch belongs to an earlier claim.
        let epoch = journal.epochNow
        watches.end { $0.epoch != epoch }
        for consumer in watches.consumers.union(members.keys.map(\.consumer)) {
            await renew(consumer)
        }
    }

    /// Compares the claims of a consumer with its recorded group. A partition that was given ends a claim, too.
    private func renew(_ consumer: String) async {
        let (record, epochs): (RecordReading<GroupRecord>, JournalEpochs)
        let ids = members.keys.filter { $0.consumer == consumer }
        // If the group cannot be read, the claims stay: a fenced batch or the next renewal ends them.
        do {
            epochs = try await journal.identity().epochs
            record = try await records.groupRecord(of: consumer, in: epochs)
        } catch {
            for id in ids { members[id]?.health.record("the record of its claim could not be read: \(error)") }
            return
        }
        guard let group = record.existing(in: epochs) else {
            // The consumer was removed, or its record is lost or damaged: the next claim makes another one.
            return watches.end(of: consumer, in: nil, epoch: epochs.current)
        }
        watches.end(of: consumer, in: group, epoch: epochs.current)
        for id in ids where members[id]?.isInOrder(hasLasted: watches.hasLasting(id)) == true { recordValid(id) }
        // One that claims now learns from its claim that it is displaced.
        for id in ids where group.displaced.contains(id.member) {
            if let member = members[id], member.mode == .exclusive, !member.isClaiming { end(id) }
        }
        let recorded = ConsumerRecords.Group(group: group, sequence: record.sequence)
        // If it fails, a later renewal does it.
        _ = try? await records.recordFloor(
            of: consumer, withOwnProgress(group, of: consumer, epochs.current), insteadOf: recorded,
            epoch: epochs.current)
    }

    /// Returns the group with what the members of this process have handled.
    private func withOwnProgress(_ group: ConsumerGroup, of consumer: String, _ epoch: UInt64) -> ConsumerGroup {
        members.reduce(group) { group, member in
            let own = group.ownership(of: member.key.member)
            guard member.key.consumer == consumer, let claim = member.value.claim, claim.epoch == epoch,
                own.ownerGeneration == claim.ownerGeneration
            else { return group }
            return group.recording { partition, _ in
                own.offsets[partition] == nil ? 0 : claim.handledOffset(of: partition)
            }
        }
    }

    /// Records how far waiting readers are, so that retention need not keep the messages that they have passed.
    func recordIdleProgress(with record: @Sendable (Checkpoint) async throws -> Void) async {
        for (claim, settled) in watches.waiting {
            guard let held = heldClaim(under: claim), settled > held.position else { continue }
            let position = Position(epoch: claim.epoch, offset: settled)
            // A refusal has ended the watch.
            try? await record(Checkpoint(claim: claim, upTo: position))
        }
    }
}

extension BusError {
    /// The error of a claim whose fences the servers have lost. The member can claim again.
    fileprivate static func lostClaimRecords(_ consumer: String) -> BusError {
        BusError(
            .epoch, "the servers have lost records of the claim of the durable consumer '\(consumer)'; claim again")
    }
}
