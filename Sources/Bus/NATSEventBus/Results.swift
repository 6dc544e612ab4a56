internal import BusProtocol
internal import EventBus
internal import NATS
internal import NATSLayout

/// Publishes the batches of durable consumers: results, progress and given-up messages, fenced by their claims.
struct Results: Sendable {
    let journal: Journal
    let claims: Claims
    let letters: DeadLetters
    let send: Send
    private let turns = Turns<ConsumerPartition>()

    init(_ journal: Journal, claims: Claims, letters: DeadLetters, send: @escaping Send) {
        self.journal = journal
        self.claims = claims
        self.letters = letters
        self.send = send
    }

    /// Publishes a batch with a checkpoint. See ``EventBus/publish(_:)``.
    /// - Parameter lease: The producer that holds a lease, if the batch is leased: see ``Leases``.
    func publish(_ batch: Batch, _ checkpoint: Checkpoint, lease: ProducerID? = nil) async throws -> Position {
        try batch.validate()
        let epoch = try await journal.identity().epoch
        guard checkpoint.position.epoch == epoch else {
            throw BusError(.epoch, "position \(checkpoint.position) belongs to another journal")
        }
        let claim = checkpoint.claim
        if let partition = checkpoint.partition {
            return try await publish(batch, checkpoint, lease, fencedBy: partition, epoch)
        }
        // The batch applies to all partitions that the claim still owns, so any fence will do.
        for partition in claim.offsets.keys.sorted() {
            do {
                return try await publish(batch, checkpoint, lease, fencedBy: partition, epoch)
            } catch let error as BusError where error.code == .fenced {}
        }
        throw BusError.takenOver(claim.consumer)
    }

    private func publish(
        _ batch: Batch, _ checkpoint: Checkpoint, _ lease: ProducerID?, fencedBy partition: Partition, _ epoch: UInt64
    ) async throws -> Position {
        let owner = ConsumerPartition(checkpoint.claim.consumer, partition)
        // The server refuses a second batch that expects the same fence while the first one is under way. And whether
        // the previous checkpoint is recorded is known only after it.
        return try await turns.withTurn(of: owner) {
            guard let owned = try await claims.ownership(of: partition, by: checkpoint.claim) else {
                throw BusError.takenOver(owner.consumer)
            }
            if try await isHandled(checkpoint, owned.handled) {
                return Position(epoch: epoch, offset: Place.end(of: try await journal.lastBatch()))
            }
            let rejected = try await rejectedMessage(of: batch, checkpoint)
            try await requireReached(checkpoint)
            if !batch.settledLetters.isEmpty { try await letters.require(batch.settledLetters) }
            let publication = try Publication(
                batch, owner: owner, rejected: rejected, lease: lease,
                expectation: Expectation(subject: journal.subject(.fence(owner)), sequence: owned.fence))
            return try await send(publication, checkpoint, partition, epoch)
        }
    }

    private func send(
        _ publication: Publication, _ checkpoint: Checkpoint, _ partition: Partition, _ epoch: UInt64
    ) async throws -> Position {
        let recorded: Sent
        do {
            recorded = try await send(publication)
        } catch let error as BusError where error.code == .fenced {
            await claims.lose(partition, of: checkpoint.claim)
            throw BusError.takenOver(checkpoint.claim.consumer)
        } catch is CancellationError {
            await claims.noteUncertain(partition, of: checkpoint.claim)
            throw CancellationError()
        }
        if let progress = publication.progress { await claims.note(progress, of: checkpoint.claim) }
        guard let offset = recorded.offset else {
            return Position(epoch: epoch, offset: Place.end(of: journal.seen))
        }
        journal.see(recorded.sequence, of: epoch)
        return Position(epoch: epoch, offset: offset)
    }

    // MARK: Checks

    /// - Parameter handled: The offset up to which the partition is handled.
    /// - Returns: True if the message of the checkpoint is already handled.
    /// - Throws: ``BusError`` `fenced` or `unrecorded`.
    private func isHandled(_ checkpoint: Checkpoint, _ handled: UInt64) async throws -> Bool {
        guard let partition = checkpoint.partition, !checkpoint.isGuard else { return false }
        let isHandled = handled >= checkpoint.position.offset
        if isHandled || checkpoint.previous.map({ handled < $0 }) == true {
            // Nothing is published that the fence could refuse.
            try await claims.requireOwned(partition, by: checkpoint.claim)
        }
        if !isHandled, let previous = checkpoint.previous, handled < previous {
            throw BusError(.unrecorded, "the previous checkpoint, at offset \(previous), is not recorded")
        }
        return isHandled
    }

    /// The message that a batch gives up, from the journal.
    private func rejectedMessage(of batch: Batch, _ checkpoint: Checkpoint) async throws -> RejectedMessage? {
        guard let rejection = batch.rejection else { return nil }
        let position = checkpoint.position
        let place = Place(offset: position.offset)
        if let stored = try await journal.batch(at: place.sequence) {
            let index = place.index(count: stored.batch.headers.count)
            let messages = (try? stored.batch.content(at: place.sequence, of: position.epoch))?.messages ?? []
            if messages.indices.contains(index) {
                return try RejectedMessage(rejection, of: try messages[index].envelope())
            }
        }
        throw BusError(.letter, "there is no message at position \(position) that could be given up")
    }

    /// - Throws: ``BusError`` with code `epoch` for progress beyond the end of the journal: messages that are published
    ///   later would count as handled.
    private func requireReached(_ checkpoint: Checkpoint) async throws {
        let offset = max(checkpoint.position.offset, checkpoint.settled)
        if offset <= Place.end(of: journal.seen) { return }
        let end = Place.end(of: try await journal.lastBatch())
        guard offset <= end else {
            throw BusError(
                .epoch,
                "the checkpoint of '\(checkpoint.claim.consumer)' is beyond the end of the journal "
                    + "(\(Position(epoch: checkpoint.position.epoch, offset: end)))")
        }
    }
}

/// The place of a batch that the journal has acknowledged.
struct Sent: Hashable, Sendable {
    /// The sequence in the stream.
    let sequence: UInt64
    /// The offset of the last message; nil if the batch has no messages.
    let offset: UInt64?
}

/// Publishes a batch, however long the servers are away, and sends it again until it is acknowledged.
/// - Throws: ``BusError``, `fenced` if the expectation of the batch does not hold; `CancellationError`.
typealias Send = @Sendable (Publication) async throws -> Sent
