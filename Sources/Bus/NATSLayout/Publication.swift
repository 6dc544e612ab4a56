package import BusFormat
package import EventBus
internal import Foundation

/// A batch whose messages are checked and packed.
package struct PackedBatch: Sendable {
    let batch: Batch
    let messages: PackedMessages

    /// - Parameter batch: A batch that is not transient.
    /// - Throws: ``BusError`` with code `refused` if the batch or a message is invalid.
    package init(_ batch: Batch) throws {
        try batch.validate()
        self.batch = batch
        do {
            messages = try PackedMessages(batch.messages, isTransient: false)
        } catch {
            throw BusError(.refused, error.message)
        }
        guard messages.bytes.count <= Limits.batchSize else {
            throw BusError(.refused, "the messages of a batch exceed \(Limits.batchSize) bytes together; split it")
        }
    }
}

/// A batch that is ready to be published, except for its id and place in the ``Lanes``.
package struct Publication: Hashable, Sendable {
    package let subject: BusSubject
    /// The partitions of the messages.
    package let partitions: Set<Partition>
    package let count: Int
    package let body: [UInt8]
    /// The size of the messages in the body, without a message that the batch gives up.
    package let messagesSize: Int
    package let progress: RecordedProgress?
    package let hasRejection: Bool
    package let resolvedDeadLetters: [Int64]
    package let lease: ProducerID?
    package let expectation: Expectation?
    /// The epoch of the journal for which the batch was made, if it has a checkpoint; otherwise nil.
    let epoch: UInt64?
    /// Nil if the batch gets the next number of the producer.
    package let id: BatchID?

    /// Checks and packs a batch that is not transient.
    package init(
        _ batch: Batch, owner: ConsumerPartition? = nil, rejected: RejectedMessage? = nil, lease: ProducerID? = nil,
        expectation: Expectation? = nil
    ) throws {
        try self.init(
            PackedBatch(batch), owner: owner, rejected: rejected, lease: lease, expectation: expectation)
    }

    /// - Parameters:
    ///   - owner: The partition whose fence protects the batch; nil for a batch without a checkpoint.
    ///   - rejected: The message that the batch gives up, with the reason.
    ///   - lease: The producer, if the documents of the batch are leased.
    ///   - expectation: The fence, the lease, or the last settlement.
    /// - Throws: ``BusError`` with code `refused` if a batch that settles dead letters has an owner or a lease.
    package init(
        _ packed: PackedBatch, owner: ConsumerPartition? = nil, rejected: RejectedMessage? = nil,
        lease: ProducerID? = nil, expectation: Expectation? = nil
    ) throws {
        let (batch, packed) = (packed.batch, packed.messages)
        guard batch.resolvedDeadLetters.isEmpty || owner == nil && lease == nil else {
            // A message of JetStream can have one expectation only.
            throw BusError(
                .refused,
                "a batch that settles dead letters cannot have a checkpoint or a lease; publish them separately")
        }
        let tokens = MessageTokens(of: batch.messages)
        progress = batch.checkpoint.flatMap(RecordedProgress.init)
        epoch = batch.checkpoint?.claim.epoch
        if !batch.resolvedDeadLetters.isEmpty {
            subject = .settlement
        } else if let owner {
            // The steward keeps only the last progress record of each partition. So a dead letter, and a batch that
            // records no progress, are in the journal even if the batch has no messages.
            let isProgressOnly = batch.messages.isEmpty && rejected == nil && progress != nil
            subject = isProgressOnly ? .progress(owner) : .results(owner, tokens)
        } else {
            subject = .batch(tokens)
        }
        partitions = Self.partitions(of: batch.messages)
        count = packed.count
        messagesSize = packed.bytes.count
        // Appending nothing would copy the messages.
        body = rejected.map { packed.bytes + $0.bytes } ?? packed.bytes
        hasRejection = rejected != nil
        resolvedDeadLetters = batch.resolvedDeadLetters
        self.lease = lease
        self.expectation = expectation
        id =
            if let owner, let progress, progress.partition != nil {
                .handled(owner, offset: progress.offset, ownerGeneration: progress.ownerGeneration)
            } else {
                nil
            }
    }

    private static func partitions(of messages: [Envelope]) -> Set<Partition> {
        var partitions: Set<Partition> = []
        var last: String?
        // Most batches have only one subject. Its partition is calculated only once.
        for message in messages where message.subject != last {
            partitions.insert(Partition(subject: message.subject))
            last = message.subject
        }
        return partitions
    }

    /// True if the batch can be published in one JetStream message with other batches of the same subject.
    var isMergeable: Bool {
        guard case .batch = subject else { return false }
        return progress == nil && lease == nil && expectation == nil && id == nil && count > 0
    }
}
