/// Messages that are published together, either all or none. The loop of a durable consumer publishes its progress with
/// them.
public struct Batch: Sendable {
    public var messages: [Envelope]
    /// The progress that is recorded with the messages; nil for none.
    package var checkpoint: Checkpoint?
    /// The reason why the message of the checkpoint is given up and moved to the dead letters. Nil if no message is
    /// given up.
    package var rejection: Rejection?
    /// The ids of the dead letters that this batch removes.
    package var resolvedDeadLetters: [Int64] = []
    /// True if the bus withdraws the documents of this batch when the publisher ends or falls silent.
    public var isLeased: Bool

    public init(_ messages: [Envelope], isLeased: Bool = false) {
        self.messages = messages
        self.isLeased = isLeased
    }

    package init(
        _ messages: [Envelope], checkpoint: Checkpoint?, rejection: Rejection? = nil, isLeased: Bool = false
    ) {
        self.init(messages, isLeased: isLeased)
        self.checkpoint = checkpoint
        self.rejection = rejection
    }

    /// Checks the batch, but not the single messages.
    /// - Throws: ``BusError`` with code `refused` if the batch is invalid.
    package func validate() throws(BusError) {
        guard messages.count <= Limits.batchCount, resolvedDeadLetters.count <= Limits.batchCount else {
            throw BusError(
                .refused,
                "a batch has at most \(Limits.batchCount) messages and settles at most as many dead letters; split it")
        }
        guard rejection == nil || checkpoint != nil else {
            throw BusError(.refused, "a rejection needs a checkpoint, which names the message to give up")
        }
    }

    /// Checks the messages.
    func validateMessages(areTransient isTransient: Bool = false) throws(BusError) {
        var size = 0
        do {
            for message in messages {
                try Rules.checkPublishing(message.type)
                size += try message.check(isTransient: isTransient)
            }
        } catch {
            throw BusError(error)
        }
        guard size <= Limits.batchSize else {
            throw BusError(.refused, "the messages of a batch exceed \(Limits.batchSize) bytes together; split it")
        }
    }
}
