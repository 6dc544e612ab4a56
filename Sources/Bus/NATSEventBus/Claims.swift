internal import BusProtocol
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSLayout

/// The durable consumers of this process: its members, their claims, and the readers under them.
///
/// A claim is a record of the group, a fence for each partition, and the progress before the fences. Every second the
/// claims are compared with the recorded groups.
actor Claims {
    private struct Membership: Hashable {
        let consumer: String
        let member: UUID
    }

    private struct Member {
        let mode: ConsumerMember.Mode
        var claim: HeldClaim?
        /// The partitions whose fences this member has written, or may have written, under its last owner epoch.
        var fenced = FencedPartitions()
        /// Nil for a shared member.
        var answering: Answering?
        /// Nil while the claim is valid.
        var trouble: ClaimTrouble?
    }

    /// The answers to ``isAlive(_:)``.
    private struct Answering {
        /// Ended when there are answers, or can be none.
        let live: AsyncStream<Never>.Continuation
        /// Ends the answers.
        let stop: AsyncStream<Never>.Continuation
        /// Ends when there are no answers any more.
        let stopped: AsyncStream<Never>
    }

    private static let renewalInterval = Duration.seconds(1)
    /// The number of renewals after which a waiting reader's progress is recorded.
    private static let idleRounds = 5
    /// The time that ``leave(consumer:as:)`` takes at most. Without it, the steward ends the membership.
    private static let leavingTime = Duration.seconds(2)

    private let records: ConsumerRecords
    private let floorStep: UInt64
    private let patience: Duration
    private let logger: Logger
    private let jobs: AsyncStream<@Sendable () async -> Void>
    private let jobWriter: AsyncStream<@Sendable () async -> Void>.Continuation
    private var isClosed = false
    private var membership: [Membership: Member] = [:]
    private var watches: [ObjectIdentifier: ClaimWatch] = [:]
    /// The callers of ``leave(consumer:as:)``.
    private var leaving: [UUID: CheckedContinuation<Void, Never>] = [:]

    private var journal: Journal { records.journal }

    /// - Parameters:
    ///   - floorStep: The number of sequences after which the progress is recorded in the group, so that the next claim
    ///     reads less.
    ///   - patience: The time after which a consumer without a valid claim is reported.
    init(
        _ journal: Journal, floorStep: UInt64 = 10_000, patience: Duration = ClaimTrouble.patience, logger: Logger
    ) {
        self.floorStep = floorStep
        self.patience = patience
        self.logger = logger
        records = ConsumerRecords(journal: journal, patience: patience)
        (jobs, jobWriter) = AsyncStream.makeStream()
    }

    /// Renews the claims until the task is cancelled.
    /// - Parameter record: Publishes a checkpoint without messages, for a reader that waits.
    func run(recording record: @escaping @Sendable (Checkpoint) async throws -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                // Each job is a membership that begins or ends, so there are few.
                await withDiscardingTaskGroup { group in
                    for await job in self.jobs { group.addTask { await job() } }
                    group.cancelAll()
                }
            }
            group.addTask {
                // Not after a renewal: that waits while no server answers.
                while (try? await Task.sleep(for: Self.renewalInterval)) != nil { await self.reportTroubles() }
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
        jobWriter.finish()
        for member in membership.values { member.answering?.live.finish() }
        for watch in watches.values { watch.end() }
        for caller in leaving.values { caller.resume() }
        (watches, leaving) = ([:], [:])
    }

    private func requireOpen() throws {
        if isClosed { throw journal.endError }
    }

    /// The members of this process, for the heartbeat.
    var members: [Heartbeat.Member] {
        membership.map { membership, member in
            Heartbeat.Member(
                consumer: membership.consumer, id: membership.member, isExclusive: member.mode == .exclusive,
                problem: member.trouble?.report(at: .now, after: patience))
        }
    }

    // MARK: Claims

    /// See ``EventBus/claim(consumer:as:)``.
    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try requireOpen()
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        let id = Membership(consumer: consumer, member: member.id)
        let isNew = membership[id] == nil
        _ = try await journal.identity()
        try await join(id, member.mode)
        note("it could not claim", of: id)
        do {
            while true {
                let epochs = try await journal.identity().epochs
                guard let claim = try await claim(consumer, member, id, in: epochs) else { continue }
                if membership[id]?.trouble?.hasLostFence != true { endTrouble(of: id) }
                return claim
            }
        } catch let error as BusError {
            if isNew || error.code == .fenced { end(id) }
            throw error
        }
    }

    /// - Returns: Nil if the journal has another epoch meanwhile.
    private func claim(
        _ consumer: String, _ member: ConsumerMember, _ id: Membership, in epochs: JournalEpochs
    ) async throws -> ConsumerClaim? {
        do {
            let claim = try await makeClaim(consumer, member, id, epochs)
            return try await journal.identity().epoch == epochs.current ? claim : nil
        } catch let error as BusError where error.code == .epoch {
            if try await journal.identity().epoch != epochs.current { return nil }
            throw error
        }
    }

    private func makeClaim(
        _ consumer: String, _ member: ConsumerMember, _ id: Membership, _ epochs: JournalEpochs
    ) async throws -> ConsumerClaim {
        var floor: UInt64 = 0
        while true {
            let fenced = membership[id]?.fenced ?? FencedPartitions()
            let assigned = try await records.assign(
                consumer, to: member, in: epochs, above: floor, fenced: fenced)
            let ownership = assigned.group.ownership(of: member.id)
            // Noted before they are written: a write that fails may have been stored.
            membership[id, default: Member(mode: member.mode)].fenced.add(ownership)
            let fencing = try await records.writeFences(
                of: consumer, ownership.offsets.keys, ownerEpoch: ownership.ownerEpoch, member: member.id)
            guard case .written(let fences) = fencing else {
                if case .overtaken(let epoch) = fencing { floor = epoch }
                continue
            }
            let handled: HandledOffsets
            do {
                handled = try await records.progress(of: consumer, assigned.group, in: epochs, fences: fences)
            } catch is ConsumerRecords.FencesLost {
                noteLostFences(of: id)
                continue
            }
            let offsets = keep(ownership, fences, handled, of: id, member.mode, epochs.current)
            let cutOffs = try await journal.read(CutOffRecord.self, .cutOffs(consumer: consumer))
            try await recordFloor(of: consumer, assigned, handled, epochs.current)
            let claim = ConsumerClaim(
                consumer: consumer, member: member, ownerEpoch: ownership.ownerEpoch, epoch: epochs.current,
                offsets: offsets,
                cutOffs: cutOffs.value?
                    .cutOffs(recordedAt: cutOffs.sequence, progress: handled.progressFence) ?? [])
            endWatches(of: consumer, in: assigned.group, epochs.current)
            return claim
        }
    }

    /// Keeps the fences of a claim.
    /// - Returns: The offset up to which each partition is handled.
    private func keep(
        _ ownership: Ownership, _ fences: [Partition: UInt64], _ handled: HandledOffsets, of id: Membership,
        _ mode: ConsumerMember.Mode, _ epoch: UInt64
    ) -> [Partition: UInt64] {
        var offsets: [Partition: UInt64] = [:]
        var claim = membership[id]?.claim
        if claim?.ownerEpoch != ownership.ownerEpoch || claim?.epoch != epoch { claim = nil }
        for partition in ownership.offsets.keys {
            let recorded = handled.handled(partition, ownerEpoch: ownership.ownerEpoch)
            offsets[partition] = max(recorded, claim?.handled(partition) ?? 0)
        }
        if claim == nil {
            claim = HeldClaim(
                epoch: epoch, ownerEpoch: ownership.ownerEpoch, fences: fences, offsets: offsets)
        } else {
            for (partition, fence) in fences {
                claim?.add(fence, of: partition)
                claim?.restore(partition, to: offsets[partition] ?? 0)
            }
        }
        membership[id, default: Member(mode: mode)].claim = claim
        return offsets
    }

    /// Records in the group how far the consumer is, if the next claim would read much otherwise.
    private func recordFloor(
        of consumer: String, _ assigned: ConsumerRecords.Group, _ handled: HandledOffsets, _ epoch: UInt64
    ) async throws {
        let epochs = Dictionary(
            uniqueKeysWithValues: zip(Partition.all, assigned.group.shares.map(\.ownerEpoch)))
        let group = assigned.group.recording { handled.handled($0, ownerEpoch: epochs[$0]) }
        guard isWorthRecording(group, instead: assigned.group) else { return }
        // If somebody has changed the group, this can wait for the next claim.
        _ = try await journal.write(
            GroupRecord(group, epoch: epoch), .group(consumer: consumer), after: assigned.sequence)
    }

    private func isWorthRecording(_ group: ConsumerGroup, instead last: ConsumerGroup) -> Bool {
        Place(offset: group.position).sequence > Place(offset: last.position).sequence + floorStep
    }

    // MARK: Trouble

    /// Notes that a member has no valid claim.
    private func note(_ reason: String, of id: Membership) {
        guard membership[id] != nil else { return }
        if membership[id]?.trouble == nil { membership[id]?.trouble = ClaimTrouble(reason, at: .now) }
        membership[id]?.trouble?.note(reason)
    }

    /// Notes that the servers do not have fences that a member has written. Its next claim writes others.
    private func noteLostFences(of id: Membership) {
        let reason = "the servers have lost records of its claim"
        logger.error("the durable consumer '\(id.consumer)' claims anew: \(reason)")
        note(reason, of: id)
        membership[id]?.trouble?.noteLostFence(reason)
        membership[id]?.fenced.noteLost()
    }

    private func endTrouble(of id: Membership) {
        guard let trouble = membership[id]?.trouble else { return }
        if trouble.wasReported { logger.info("the durable consumer '\(id.consumer)' has a valid claim again") }
        membership[id]?.trouble = nil
    }

    private func reportTroubles() {
        for id in membership.keys {
            guard let report = membership[id]?.trouble?.takeReport(at: .now, after: patience) else { continue }
            // While no server answers, that is the reason.
            let wait = journal.waitReason.map { " (\($0))" } ?? ""
            logger.warning("the durable consumer '\(id.consumer)' \(report)\(wait)")
        }
    }

    // MARK: Members

    /// Adds a member. If it is exclusive, it answers from now on that it is alive.
    private func join(_ id: Membership, _ mode: ConsumerMember.Mode) async throws {
        guard membership[id] == nil else { return }
        membership[id] = Member(mode: mode)
        guard mode == .exclusive else { return }
        let (isLive, live) = AsyncStream.makeStream(of: Never.self)
        let (isOver, over) = AsyncStream.makeStream(of: Never.self)
        let (isStopped, stopped) = AsyncStream.makeStream(of: Never.self)
        membership[id]?.answering = Answering(live: live, stop: over, stopped: isStopped)
        let (journal, subject) = (journal, aliveSubject(of: id.member))
        jobWriter.yield {
            await withTaskGroup { group in
                group.addTask { await Self.answer(in: journal, subject, live) }
                group.addTask { for await _ in isOver {} }
                await group.next()
                group.cancelAll()
            }
            live.finish()
            stopped.finish()
        }
        for await _ in isLive {}
        try Task.checkCancellation()
        try requireOpen()
    }

    private static func answer(
        in journal: Journal, _ subject: String, _ live: AsyncStream<Never>.Continuation
    ) async {
        // Ends when the connection or the task ends. If this user may not subscribe, nobody learns that it is alive.
        try? await journal.connection.withSubscription(to: subject, limit: 64) { subscription in
            // A subscription without a connection begins later.
            try await journal.retrying { try await journal.connection.roundTrip() }
            live.finish()
            while true {
                guard case .message(let message) = try await subscription.next(), let reply = message.reply else {
                    continue
                }
                try? journal.connection.publish(reply)
            }
        }
    }

    private func aliveSubject(of member: UUID) -> String {
        journal.subject(.queries(to: "member-\(member.uuidString)"))
    }

    /// True if a process runs this exclusive member, or may run it.
    private func isAlive(_ member: UUID) async throws -> Bool {
        let subject = aliveSubject(of: member)
        return try await journal.retrying {
            do {
                _ = try await journal.connection.request(subject, timeout: .seconds(2))
                return true
            } catch let error as NATSError where error.code == .noResponders {
                return false
            } catch let error as NATSError where error.code == .timeout {
                // A process that is stopped has a subscription and does not answer. It may continue.
                return true
            }
        }
    }

    @discardableResult
    private func end(_ id: Membership) -> Answering? {
        let answering = membership.removeValue(forKey: id)?.answering
        answering?.stop.finish()
        for watch in watches.values
        where watch.claim.consumer == id.consumer && watch.claim.member.id == id.member {
            watch.end()
        }
        return answering
    }

    /// See ``EventBus/leave(consumer:as:)``. `run()` writes the record, because the caller may be cancelled.
    func leave(consumer: String, as member: ConsumerMember) async {
        await leave(Membership(consumer: consumer, member: member.id))
    }

    private func leave(_ id: Membership) async {
        guard !isClosed else { return }
        // A claim that was cancelled may have added a member that is not known here.
        let answering = end(id)
        let call = UUID()
        await withCheckedContinuation { continuation in
            leaving[call] = continuation
            jobWriter.yield {
                if let answering { for await _ in answering.stopped {} }
                await self.leaveGroup(id)
                await self.finish(call)
            }
        }
    }

    /// Ends all memberships of this process.
    func leaveAll() async {
        await withDiscardingTaskGroup { group in
            for id in membership.keys { group.addTask { await self.leave(id) } }
        }
    }

    private func finish(_ call: UUID) {
        leaving.removeValue(forKey: call)?.resume()
    }

    private func leaveGroup(_ id: Membership) async {
        let records = records
        await withTaskGroup { group in
            group.addTask {
                // A failure leaves it to the steward.
                try? await records.change(id.consumer) { group in
                    guard group.members.contains(id.member) else { return nil }
                    var group = group
                    group.leave(id.member)
                    return group
                }
            }
            group.addTask { try? await Task.sleep(for: Self.leavingTime) }
            await group.next()
            group.cancelAll()
        }
        await renew(id.consumer)
    }

    // MARK: Consumers

    /// See ``EventBus/consumers()``.
    func consumers() async throws -> [DurableConsumer] {
        try requireOpen()
        let epochs = try await journal.identity().epochs
        let epoch = epochs.current
        let groups = try await records.groups(in: epochs)
        var consumers: [DurableConsumer] = []
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            let handled = try await records.progress(of: name, group, in: epochs)
            let position = zip(Partition.all, group.shares)
                .map { handled.handled($0, ownerEpoch: $1.ownerEpoch) }.min()
            let end = Place.end(of: try await journal.lastBatch())
            consumers.append(
                DurableConsumer(
                    name: name, position: Position(epoch: epoch, offset: position ?? 0),
                    end: Position(epoch: epoch, offset: end), memberCount: group.members.count))
        }
        return consumers
    }

    /// See ``EventBus/forget(consumer:)``.
    func forget(consumer: String) async throws {
        try requireOpen()
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        let epochs = try await journal.identity().epochs
        while case let last = try await records.groupRecord(of: consumer, in: epochs), last.sequence > 0 {
            if let record = last.value, !record.exists {
                try await records.writeRemovals(of: consumer, through: last.group(in: epochs).ownerEpoch)
                break
            }
            let group = last.group(in: epochs)
            let ownerEpoch =
                last.damage == nil ? group.ownerEpoch : try await records.highestOwnerEpoch(of: consumer, in: epochs)
            guard group.members.isEmpty else {
                throw BusError(.refused, "processes share the durable consumer '\(consumer)'; stop them first")
            }
            if let owner = group.shares.first?.member, try await isAlive(owner) {
                throw BusError(.refused, "a process runs the durable consumer '\(consumer)'; stop it first")
            }
            let removal = GroupRecord(removedAfter: ownerEpoch + 1)
            _ = try await journal.write(removal, .group(consumer: consumer), after: last.sequence)
        }
        await renew(consumer)
    }

    // MARK: Fences

    /// The fence that a batch of a claim must expect, and the offset up to which its partition is handled. Nil if the
    /// claim has lost the partition.
    func ownership(
        of partition: Partition, by claim: ConsumerClaim
    ) async throws -> (fence: UInt64, handled: UInt64)? {
        let id = Membership(consumer: claim.consumer, member: claim.member.id)
        if let held = membership[id]?.claim, held.belongs(to: claim), !held.uncertain.contains(partition) {
            return held.fences[partition].map { ($0, held.handled(partition)) }
        }
        guard let fence = try await fence(of: claim, partition) else { return nil }
        return (fence, try await handled(partition, by: claim))
    }

    /// The sequence of the fence that a batch of a claim must expect. Nil if the claim has lost the partition.
    private func fence(of claim: ConsumerClaim, _ partition: Partition) async throws -> UInt64? {
        let id = Membership(consumer: claim.consumer, member: claim.member.id)
        if let held = membership[id]?.claim, held.belongs(to: claim) { return held.fences[partition] }
        // A claim that another object of this process has made, or one that was replaced since.
        guard claim.offsets[partition] != nil, claim.ownerEpoch > 0, membership[id] != nil else { return nil }
        guard let sequence = try await recordedFence(of: claim, partition) else { return nil }
        if membership[id]?.claim == nil {
            membership[id]?.claim = HeldClaim(
                epoch: claim.epoch, ownerEpoch: claim.ownerEpoch, fences: [partition: sequence], offsets: claim.offsets)
        } else if membership[id]?.claim?.belongs(to: claim) == true {
            membership[id]?.claim?.add(sequence, of: partition)
        }
        return sequence
    }

    /// The sequence of the last fence of a partition, if it is that of the claim.
    private func recordedFence(of claim: ConsumerClaim, _ partition: Partition) async throws -> UInt64? {
        let fence = try await records.fence(of: ConsumerPartition(claim.consumer, partition))
        guard let record = fence.value, record.ownerEpoch == claim.ownerEpoch, record.member == claim.member.id else {
            return nil
        }
        return fence.sequence
    }

    /// Asks the journal if a claim still owns a partition.
    /// - Throws: ``BusError`` with code `fenced`.
    func requireOwned(_ partition: Partition, by claim: ConsumerClaim) async throws {
        guard try await recordedFence(of: claim, partition) != nil else {
            lose(partition, of: claim)
            throw BusError.takenOver(claim.consumer)
        }
    }

    /// Notes that the fence of a partition has been replaced.
    func lose(_ partition: Partition, of claim: ConsumerClaim) {
        let id = Membership(consumer: claim.consumer, member: claim.member.id)
        if membership[id]?.claim?.belongs(to: claim) == true { membership[id]?.claim?.lose(partition) }
        for watch in watches.values
        where watch.claim.consumer == claim.consumer && watch.claim.ownerEpoch == claim.ownerEpoch {
            watch.end()
        }
    }

    /// Handles the refusal of a batch that expected the fence of a claim.
    /// - Returns: The error for its publisher.
    func refused(_ partition: Partition, of claim: ConsumerClaim) async throws -> BusError {
        lose(partition, of: claim)
        guard try await isFenceLost(partition, of: claim) else { return BusError.takenOver(claim.consumer) }
        noteLostFences(of: Membership(consumer: claim.consumer, member: claim.member.id))
        return BusError(
            .epoch,
            "the servers have lost records of the claim of the durable consumer '\(claim.consumer)'; claim again")
    }

    /// True if nobody has taken over the partition of a claim whose batch was refused.
    private func isFenceLost(_ partition: Partition, of claim: ConsumerClaim) async throws -> Bool {
        let epochs = try await journal.identity().epochs
        guard claim.epoch == epochs.current else { return false }
        // Another owner changes the group before it replaces the fence. Only damage removes or destroys the record.
        let record = try await records.groupRecord(of: claim.consumer, in: epochs)
        if record.value != nil {
            let ownership = record.group(in: epochs).ownership(of: claim.member.id)
            guard ownership.ownerEpoch == claim.ownerEpoch, ownership.offsets[partition] != nil else {
                return false
            }
        }
        let fence = try await records.fence(of: ConsumerPartition(claim.consumer, partition)).value
        return fence?.ownerEpoch ?? 0 <= claim.ownerEpoch
    }

    // MARK: Progress

    /// The offset up to which a partition of a claim is handled.
    private func handled(_ partition: Partition, by claim: ConsumerClaim) async throws -> UInt64 {
        let id = Membership(consumer: claim.consumer, member: claim.member.id)
        guard let held = membership[id]?.claim, held.belongs(to: claim) else {
            return claim.offsets[partition] ?? 0
        }
        let epochs = try await journal.identity().epochs
        guard held.uncertain.contains(partition), epochs.current == claim.epoch,
            let group = try await records.groupRecord(of: claim.consumer, in: epochs).existing(in: epochs)
        else { return held.handled(partition) }
        let recorded = try await records.progress(of: claim.consumer, group, in: epochs, fences: held.fences)
        membership[id]?.claim?
            .restore(partition, to: recorded.handled(partition, ownerEpoch: claim.ownerEpoch))
        return membership[id]?.claim?.handled(partition) ?? 0
    }

    func note(_ progress: RecordedProgress, of claim: ConsumerClaim) {
        change(claim) { $0.record(progress) }
    }

    /// Notes that a batch of this partition may be recorded or not.
    func noteUncertain(_ partition: Partition, of claim: ConsumerClaim) {
        change(claim) { $0.noteUncertain(partition) }
    }

    private func change(_ claim: ConsumerClaim, _ change: (inout HeldClaim) -> Void) {
        let id = Membership(consumer: claim.consumer, member: claim.member.id)
        guard var held = membership[id]?.claim, held.belongs(to: claim) else { return }
        change(&held)
        membership[id]?.claim = held
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
        watches[ObjectIdentifier(watch)] = watch
        await renew(claim.consumer)
    }

    private func remove(_ watch: ClaimWatch) {
        watches[ObjectIdentifier(watch)] = nil
    }

    private func renew() async {
        // Nothing that is recorded in a new epoch belongs to an earlier claim.
        for watch in watches.values where watch.claim.epoch != journal.epochNow { watch.end() }
        for consumer in Set(watches.values.map(\.claim.consumer)).union(membership.keys.map(\.consumer)) {
            await renew(consumer)
        }
    }

    /// Compares the claims of a consumer with its recorded group. A partition that was given ends a claim, too.
    private func renew(_ consumer: String) async {
        let (record, epochs): (RecordReading<GroupRecord>, JournalEpochs)
        let ids = membership.keys.filter { $0.consumer == consumer }
        for id in ids { note("the record of its claim could not be read", of: id) }
        // If the group cannot be read, the claims stay: a fenced batch or the next renewal ends them.
        do {
            epochs = try await journal.identity().epochs
            record = try await records.groupRecord(of: consumer, in: epochs)
        } catch {
            for id in ids { note("the record of its claim could not be read: \(error)", of: id) }
            return
        }
        guard let group = record.existing(in: epochs) else {
            // The consumer was removed, or its record is lost or damaged: the next claim makes it anew.
            return endWatches(of: consumer, in: nil, epochs.current)
        }
        endWatches(of: consumer, in: group, epochs.current)
        for id in ids where isInOrder(id) { endTrouble(of: id) }
        for id in membership.keys where id.consumer == consumer {
            guard membership[id]?.mode == .exclusive, group.displaced.contains(id.member) else { continue }
            end(id)
        }
        let recorded = ConsumerRecords.Group(group: group, sequence: record.sequence)
        await recordFloor(of: consumer, recorded, epochs.current)
    }

    private func endWatches(of consumer: String, in group: ConsumerGroup?, _ epoch: UInt64) {
        for watch in watches.values where watch.claim.consumer == consumer {
            let ownership = group?.ownership(of: watch.claim.member.id)
            // The claim can be newer than the group, which was read before it.
            if let ownership, group?.ownerEpoch ?? 0 < watch.claim.ownerEpoch, ownership.ownerEpoch > 0 { continue }
            let isCurrent =
                watch.claim.epoch == epoch && ownership?.ownerEpoch == watch.claim.ownerEpoch
                && ownership?.offsets.keys == watch.claim.offsets.keys
            if !isCurrent { watch.end() }
        }
    }

    /// True if nothing shows that a member has no valid claim, just after the claims were compared with the group.
    private func isInOrder(_ id: Membership) -> Bool {
        let own = watches.values.filter { $0.claim.consumer == id.consumer && $0.claim.member.id == id.member }
        guard membership[id]?.claim != nil, !own.isEmpty else { return membership[id]?.trouble?.hasLostFence != true }
        return own.contains { $0.hasLasted } || membership[id]?.trouble?.hasLostFence != true
    }

    private func recordFloor(of consumer: String, _ recorded: ConsumerRecords.Group, _ epoch: UInt64) async {
        for (id, member) in membership where id.consumer == consumer {
            guard let claim = member.claim, claim.epoch == epoch else { continue }
            let own = recorded.group.ownership(of: id.member)
            guard own.ownerEpoch == claim.ownerEpoch else { continue }
            let group = recorded.group.recording { own.offsets[$0] == nil ? 0 : claim.handled($0) }
            guard isWorthRecording(group, instead: recorded.group) else { continue }
            _ = try? await journal.write(
                GroupRecord(group, epoch: epoch), .group(consumer: consumer), after: recorded.sequence)
            return
        }
    }

    /// Records how far waiting readers are, so that retention need not keep the messages that they have passed.
    func recordIdleProgress(with record: @Sendable (Checkpoint) async throws -> Void) async {
        for watch in watches.values {
            let claim = watch.claim
            let id = Membership(consumer: claim.consumer, member: claim.member.id)
            guard let settled = watch.settled, let held = membership[id]?.claim,
                held.belongs(to: claim), settled > held.position
            else { continue }
            let position = Position(epoch: claim.epoch, offset: settled)
            // A refusal has ended the watch.
            try? await record(Checkpoint(claim: claim, position: position))
        }
    }
}
