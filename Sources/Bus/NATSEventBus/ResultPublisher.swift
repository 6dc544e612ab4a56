internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout

/// Publishes the batches of durable consumers: results, progress and given-up messages, fenced by their claims.
struct ResultPublisher: Sendable {
    let journal: JournalConnection
    let claims: Claims
    let deadLetters: DeadLetters
    let send: Send
    private let locks = KeyedLocks<ConsumerPartition>()

    init(_ journal: JournalConnection, claims: Claims, deadLetters: DeadLetters, send: @escaping Send) {
        self.journal = journal
        self.claims = claims
        self.deadLetters = deadLetters
        self.send = send
    }

    /// Publishes a batch with a checkpoint. See ``MessagingEngine/publish(_:)``.
    /// - Parameter lease: The producer that holds a lease, if the batch is leased: see ``Leases``.
    func publish(_ batch: Batch, _ checkpoint: Checkpoint, lease: ProducerID? = nil) async throws -> Position {
        let packed = try PackedBatch(batch)
        let claim = checkpoint.claim
        if let partition = checkpoint.partition {
            return try await publish(batch, packed: packed, checkpoint: checkpoint, lease: lease, fencedBy: partition)
        }
        // The batch applies to all partitions that the claim still owns, so any of its fences can protect it.
        for partition in claim.offsets.keys.sorted() {
            do {
                return try await publish(
                    batch, packed: packed, checkpoint: checkpoint, lease: lease, fencedBy: partition)
            } catch let error as BusError where error.code == .fenced {}
        }
        // Also for a claim without partitions, the position is checked first.
        _ = try await isHandled(checkpoint, nil, fencedBy: nil)
        throw BusError.takenOver(claim.consumer)
    }

    private func publish(
        _ batch: Batch, packed: PackedBatch, checkpoint: Checkpoint, lease: ProducerID?,
        fencedBy partition: Partition
    ) async throws -> Position {
        let owner = ConsumerPartition(checkpoint.claim.consumer, partition)
        // The server refuses a second batch that expects the same fence while the first one is under way. And the
        // previous checkpoint is known to be recorded only after its batch.
        return try await locks.withLock(of: owner) {
            let owned = try await claims.ownership(of: partition, by: checkpoint.claim)
            let isHandled = try await isHandled(checkpoint, owned?.handledOffset, fencedBy: partition)
            if isHandled { return try await journal.end() }
            guard let owned else { throw try await claims.recordRefusal(of: partition, by: checkpoint.claim) }
            let rejected = try await rejectedMessage(of: batch, checkpoint)
            if !batch.resolvedDeadLetters.isEmpty { try await deadLetters.require(batch.resolvedDeadLetters) }
            let publication = try Publication(
                packed, owner: owner, rejected: rejected, lease: lease,
                expectation: Expectation(subject: journal.subject(.fence(owner)), sequence: owned.fence))
            return try await send(publication, checkpoint: checkpoint, fencedBy: partition)
        }
    }

    private func send(
        _ publication: Publication, checkpoint: Checkpoint, fencedBy partition: Partition
    ) async throws -> Position {
        let recorded: Lanes.Recorded
        do {
            recorded = try await send(publication)
        } catch let error as BusError where error.code == .fenced {
            throw try await claims.recordRefusal(of: partition, by: checkpoint.claim)
        } catch is CancellationError {
            await claims.recordUncertain(partition, of: checkpoint.claim)
            throw CancellationError()
        }
        if let progress = publication.progress { await claims.record(progress, of: checkpoint.claim) }
        guard let position = recorded.position else { return journal.seenEnd }
        journal.see(recorded.sequence, of: recorded.epoch)
        return position
    }

    // MARK: Checks

    /// See ``CheckpointAdmission/isHandled(end:handled:)``.
    private func isHandled(
        _ checkpoint: Checkpoint, _ handled: UInt64?, fencedBy partition: Partition?
    ) async throws -> Bool {
        let admission = CheckpointAdmission(checkpoint)
        let end = try await end(reaching: admission.reach)
        do throws(LedgerRefusal) {
            guard try admission.isHandled(end: end, handled: handled) else { return false }
        } catch {
            if error.reason == .unrecorded { try await requireOwned(checkpoint) }
            if error.reason == .fenced, let partition {
                throw try await claims.recordRefusal(of: partition, by: checkpoint.claim)
            }
            throw BusError(error)
        }
        try await requireOwned(checkpoint)
        return true
    }

    /// Asks the journal if the claim still owns the partition of the checkpoint: for a batch that is not sent, so that
    /// no fence can refuse it.
    private func requireOwned(_ checkpoint: Checkpoint) async throws {
        guard let partition = checkpoint.partition else { return }
        try await claims.requireOwned(partition, by: checkpoint.claim)
    }

    /// The message that a batch gives up, from the journal.
    private func rejectedMessage(of batch: Batch, _ checkpoint: Checkpoint) async throws -> RejectedMessage? {
        guard let rejection = batch.rejection else { return nil }
        let position = checkpoint.position
        let place = StreamPosition(offset: position.offset)
        if let stored = try await journal.batch(at: place.sequence) {
            let index = place.index(count: stored.batch.headers.count)
            let messages = (try? stored.batch.content(at: place.sequence, of: position.epoch))?.messages ?? []
            if messages.indices.contains(index) {
                return try RejectedMessage(rejection, of: try messages[index].envelope())
            }
        }
        throw BusError(.deadLetter, "there is no message at position \(position) that could be given up")
    }

    /// The end of the journal, or an earlier position that this client knows if that is not before `offset`.
    private func end(reaching offset: UInt64) async throws -> Position {
        // Waits until the stream has been found.
        _ = try await journal.identity()
        let known = journal.seenEnd
        return offset <= known.offset ? known : try await journal.end()
    }
}

/// Publishes a batch, however long the servers are away, and sends it again until it is acknowledged.
/// - Throws: ``BusError``, `fenced` if the expectation of the batch does not hold; `CancellationError`.
typealias Send = @Sendable (Publication) async throws -> Lanes.Recorded
